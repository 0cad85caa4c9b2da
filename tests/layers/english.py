"""Phrases that engineers whose language is English would not use. The list guides rereading: a text without a finding can
still be clumsy. check_messages.py looks for PUZZLING in messages; check_english.py and check_commits.py look for all
phrases in comments, pages, names of tests and subjects of commits.
"""
import re

PUZZLING = {
    r"(?<![Tt]here )is no (?!longer\b)": "say what it is not: 'is not a'",
    r"tenths of a second": "say seconds",
    r"goes? (?:first|before)\b": "say 'overrides', 'takes precedence'",
    r"(?:says?|describes) itself what\b": "say 'describes itself'",
    r"nobody says\b": "say what the default is",
    r"is there already\b": "say 'already exists'",
    r"not in \{": "list the choices in a sentence",
    r"anew\b": "say 'again'",
    r"(?:one|settings|OME-Zarr) an? (?:line|pixel|row|key|file|scan)\b": "say 'one per'",
    r"(?:lines|pictures|beats|volumes|A-scans) a second\b": "say 'per second'",
    r"of ours\b": "say 'saved by Echolux'",
    r"to be had\b|can be had\b": "say 'available'",
    r"of (?:our|one's) own\b": "say 'your'",
    r"not (?:there )?any ?more\b": "say 'no longer'",
    r"that cannot be$": "say 'impossible', 'invalid'",
    r"waits? in vain\b": "say what does not happen",
}

# Not for messages, which people and programs may have learnt to read as they are.
CLUMSY = {
    # Clauses in place of nouns.
    r"^What (?!if\b|it\b|is\b|are\b|to\b)\w+": "name the thing: a noun and an active verb",
    r"(?<=[.:;,] )[Ww]hat (?:is|are|has|have|was|can|does|comes|goes|stands|lies) (?!the\b)\w+": "name the thing",
    r"[Ww]here there (?:is|are) (?:none|no|one)\b": "say 'without a', 'if there is no'",
    r"(?:[Ff]or |[Bb]y |[Oo]f |[Tt]o |^)[Ww]ho (?!is\b|are\b)\w+s\b": "name the role: the caller, the reader",
    r"(?:[Ww]hoever|[Nn]obody)\b": "name the role, or use the passive",
    # Fragments: a comment is a sentence, or a noun phrase with its subject.
    r"^Of (?:the|each|an?|all|what|its|it|one|those|these|every)\b": "begin with the subject",
    r"^The same (?:of|for)\b": "say what it is",
    r"^(?:Nothing|None|Empty|False|True|Null|Zero): ": "say 'Empty if', 'Returns false if'",
    # Verbs of conversation and posture.
    r"(?:is|are|was|were|be|been) (?:told|said|heard)\b": "say 'reported', 'logged', 'returned', 'shown'",
    r"(?:[Tt]ells?|[Ss]ays?) (?:so|whether|which|how|what|why)\b": "say 'returns', 'reports', 'indicates'",
    r"(?:[Ll]ies|lie|lay|stands|stand|stood) (?:in|on|at|there|beside|with|by|before|behind|together)\b": "say 'is in'",
    r"[Gg]o(?:es)? on\b|went on\b": "say 'continue'",
    r"[Ll]ets? go\b": "say 'release'",
    r"[Mm]end(?:ed|s|ing)?\b": "say 'fix'",
    r"comes? to be\b|puts? to use\b|makes? something of\b": "say 'becomes', 'is used'",
    r"(?:is|are) (?:looked|asked|waited|cared) (?:for|after)\b": "use the active voice",
    r"(?:is|are|be) made of\b(?! \d)": "say 'built from', 'computed from'",
    r"(?<![Tt]here )(?:are|was|were) no (?!longer\b|more\b|such\b)\w+": "say 'are not'",
    # Quantities.
    r"(?<!at )(?:least|greatest)\b(?![ -]squares)": "say 'min', 'max', 'smallest', 'largest'",
    r"[Ss]o (?:many|much|far|long)\b(?! (?:that|as)\b)": "state the number or the limit",
    r"(?:bits|bytes|frames|lines|one|paths|pixels|pulses|rays|samples|slices|two|three|\d+) an? "
    r"(?:block|file|line|pixel|row|scan|second|slice|thread|volume|voxel)\b": "say 'per'",
    # Words of another century.
    r"(?:of its|of their|of his) own\b": "say 'its own', 'a separate'",
    r"[Bb]esides\b(?! the| a)": "say 'also', 'in addition to'",
    r"[Mm]eanwhile\b": "say 'while'",
    r"no longer any\b": "say 'no longer'",
    r"in vain\b|born\b|keep \w+ company\b|fate\b": "use a plain verb",
    r"as good as\b": "say 'almost'",
    r"all the same\b|be it\b|nor\b(?! does| do| is| are| can)": "use a plain connective",
    r"(?:thereof|therein|whereof|thereby|whence|hither|thus far)\b": "use a plain word",
}


# Names of test cases, as words. They say the behaviour: `RejectsTruncatedFile`, `KeepsOrderAcrossBlocks`.
RIDDLES = {
    r"(?:[Ww]hat|[Ww]ho|[Ww]hom|[Ww]hoever|[Nn]obody|[Nn]owhere)\b": "name the thing or the role",
    r"[Ww]here there\b|^Where\b|^That\b|^Of\b": "begin with the behaviour: 'Rejects', 'Keeps'",
    r"^Nothing\b": "say what does not happen: 'DrawsNothing'",
    r"(?:the|an|a(?! scans?\b)|The|An|A(?! scans?\b))\b": "leave out articles",
}

# Code in `backticks` and "quotations" are exempt.
QUOTED = re.compile(r"`[^`]*`|\"[^\"]*\"")


class Phrases:
    """Finds phrases, given as regular expressions with their advice. Each begins with a word, so they need no leading \\b."""

    def __init__(self, advice_of):
        self._each = [(re.compile(rf"\b(?:{phrase})"), advice) for phrase, advice in advice_of.items()]
        self._any = re.compile(rf"\b(?:{'|'.join(advice_of)})")  # much faster than one by one

    def hits(self, text):
        """Returns (offset, phrase, advice) of each phrase in a text."""
        if not self._any.search(text):
            return []
        text = QUOTED.sub(lambda quotation: "-" * len(quotation[0]), text)
        return [(match.start(), match[0], advice) for phrase, advice in self._each for match in phrase.finditer(text)]


IN_MESSAGES = Phrases(PUZZLING)
IN_TEXTS = Phrases({**PUZZLING, **CLUMSY})
IN_NAMES = Phrases({**CLUMSY, **RIDDLES})
