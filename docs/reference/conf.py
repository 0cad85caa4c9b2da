"""How Sphinx makes the reference of the module for Python of its docstrings; `./dev docs` calls it."""
import re

import echolux

project = "echolux"
version = release = echolux.__version__
extensions = ["sphinx.ext.autodoc"]
html_theme = "alabaster"
html_theme_options = {"description": "Optical coherence tomography: the module for Python", "page_width": "72em",
                      "fixed_sidebar": True}
html_show_copyright = False
html_copy_source = False
default_role = "code"
nitpicky = False
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


def setup(app):
    app.connect("autodoc-skip-member", is_skipped)
    app.connect("autodoc-process-signature", constructor)
    app.connect("autodoc-process-docstring", as_rst)
