"""How Sphinx builds the site of `./dev docs`: the pages of docs/, the reference of the Python module from its docstrings, and the
reference of the C and C++ interfaces from their headers. The source folder is the root of the repository, so that links between pages
are the same here and in the checkout. The site works without a network."""
import re
from pathlib import Path

import echolux
from docutils import nodes
from sphinx.ext.graphviz import graphviz

ROOT = Path(__file__).resolve().parent.parent

project = "Echolux"
version = release = echolux.__version__
root_doc = "docs/index"
include_patterns = ["*.md", "docs/*.md", "docs/reference/*.rst", "examples/control/labview.md"]
exclude_patterns = ["build", "out", "assets", "tests", ".github"]
extensions = ["sphinx.ext.autodoc", "sphinx.ext.graphviz", "sphinx_copybutton", "myst_parser", "breathe"]
default_role = "code"

html_theme = "furo"
html_title = f"Echolux {version}"
html_show_copyright = False
html_copy_source = False
copybutton_prompt_text = "$ "
graphviz_output_format = "svg"

myst_heading_anchors = 4
myst_links_external_new_tab = True
suppress_warnings = ["toc.not_included"]  # pages that other pages link to
linkcheck_anchors = False

breathe_projects = {"echolux": str(ROOT / "build/sphinx/doxygen/xml")}
breathe_default_project = "echolux"
breathe_domain_by_extension = {"h": "c", "hpp": "cpp"}
primary_domain = None

autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_inherit_docstrings = True
autodoc_default_options = {"members": True, "inherited-members": "Exception,Mapping,MutableMapping,NamedTuple,tuple", "special-members": "__call__", "exclude-members": "of"}

ARGUMENT = re.compile(r"([a-z_]\w*(?:\(\w+\))?(?:, [a-z_]\w*)*): (.*)")  # "first, count: which positions"
MARKUP = re.compile(r"(`[^`]*`)|([|*]|_(?!\w))")  # outside code
MADE_BY_USERS = {"echolux.Reconstructor", "echolux.Batch"}  # others come from functions


def as_rst(_app, _what, _name, _object, _options, lines):
    """Docstrings are plain text: arguments are lines "name: meaning", and what is indented is code."""
    made, in_list = [], False
    for line in lines:
        before = made[-1] if made else ""
        if in_list or not line.startswith("    "):  # such as |A| and *.nrrd
            line = MARKUP.sub(lambda found: found[1] or "\\" + found[2], line)
        argument = ARGUMENT.match(line)
        if argument:
            if before and not in_list:
                made.append("")
            made += [f"``{argument[1]}``", f"    {argument[2]}"]
            in_list = True
        elif line.startswith("    "):
            if not before and not in_list:
                made += ["::", ""]
            made.append(line)
        elif line and in_list and before:
            made += ["", line]
            in_list = False
        else:
            in_list = in_list and bool(line)
            made.append(line)
    lines[:] = made


def constructor(_app, what, name, _object, _options, signature, result):
    return ("", None) if what == "class" and name not in MADE_BY_USERS else (signature, result)


def is_skipped(_app, _what, _name, member, skip, _options):
    """Fields of tuples, which their class describes."""
    return True if (getattr(member, "__doc__", "") or "").startswith("Alias for field") else skip


LINK = re.compile(r"\]\(([^)#]+\.(?:md|rst))\)")


def add_navigation(_app, name, source):
    """Makes the navigation from the links of the start page: a list per heading, so that pages are listed once."""
    if name != root_doc:
        return
    sections = [section.partition("\n")[::2] for section in source[0].split("\n## ")[2:]]
    for title, text in [("Start", "[](../README.md)"), *sections]:
        pages = [str(Path("docs", link).with_suffix("")) for link in dict.fromkeys(LINK.findall(text))]
        pages = [page.replace("docs/../", "") for page in pages]
        source[0] += "\n".join(["\n\n```{toctree}", f":caption: {title}", ":hidden:", *("/" + page for page in pages), "```\n"])


EDGE = re.compile(r'(\w+)(?:\["([^"]*)"\])?')


def as_dot(chart):
    """Translates a flow chart of Mermaid, which web sites with repositories draw, to Graphviz: it draws without a network."""
    lines = chart.strip().splitlines()
    horizontal = lines[0].split()[-1] == "LR"
    dot = ["digraph {", f'rankdir={"LR" if horizontal else "TB"}; bgcolor=transparent;',
           'node [shape=box style="rounded,filled" fillcolor="#e8eef4" color="#5b7083" fontname="Helvetica" fontsize=11];',
           'edge [color="#5b7083" fontcolor="#5b7083" fontname="Helvetica" fontsize=10];']
    for line in lines[1:]:
        dashed = re.search(r"-\.\s*(.*?)\s*\.->", line)
        ends = []
        for part in re.split(r"-\..*?\.->|-->", line):
            name, label = EDGE.match(part.strip()).groups()
            if label:
                dot.append(f'{name} [label="{label}"];')
            ends.append(name)
        style = f' [style=dashed label="{dashed[1]}"]' if dashed else ""
        dot += [f"{first} -> {second}{style};" for first, second in zip(ends, ends[1:])]
    return "\n".join([*dot, "}"])


def draw_charts(_app, document):
    for block in list(document.findall(nodes.literal_block)):
        if block.get("language") == "mermaid":
            drawing = graphviz()
            drawing["code"], drawing["options"], drawing["alt"] = as_dot(block.astext()), {}, "Flow chart"
            block.replace_self(drawing)


def setup(app):
    app.connect("autodoc-skip-member", is_skipped)
    app.connect("autodoc-process-signature", constructor)
    app.connect("autodoc-process-docstring", as_rst)
    app.connect("source-read", add_navigation)
    app.connect("doctree-read", draw_charts)
