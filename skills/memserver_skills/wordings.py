"""Which words say the same in instructions and notes: the verifier forgives a rewording only
where these tables do, so every line must hold in nearly all contexts. General English; nothing
here belongs to one environment."""

from collections.abc import Iterable, Mapping

NOT = "<not>"
WHEN, WHILE, BEFORE, AFTER, UNTIL = "<when>", "<while>", "<before>", "<after>", "<until>"
UNLESS, BECAUSE, SO, THEN, ELSE, THOUGH = (
    "<unless>",
    "<because>",
    "<so>",
    "<then>",
    "<else>",
    "<though>",
)
AND, OR, ONCE = "<and>", "<or>", "<once>"

MARKERS = frozenset({WHEN, WHILE, BEFORE, AFTER, UNTIL, UNLESS, BECAUSE, SO, THEN, ELSE, THOUGH})
"""What opens a clause and says how it bears on the others."""

LIMITING = frozenset({WHEN, WHILE, BEFORE, AFTER, UNTIL, UNLESS})
"""Those under which another clause holds only sometimes."""

_IRREGULAR = {
    "took taken": "take",
    "found": "find",
    "held": "hold",
    "went gone": "go",
    "got gotten": "get",
    "kept": "keep",
    "saw seen": "see",
    "told": "tell",
    "gave given": "give",
    "made": "make",
    "left": "leave",
    "brought": "bring",
    "chose chosen": "choose",
    "began begun": "begin",
    "said": "say",
    "knew known": "know",
    "sent": "send",
    "bought": "buy",
    "wrote written": "write",
    "thought": "think",
    "met": "meet",
    "ran": "run",
    "came": "come",
    "became": "become",
    "shelves": "shelf",
    "knives": "knife",
    "halves": "half",
    "children": "child",
    "people": "person",
    # Cut down like other words, it would be read as "not".
    "note notes noted noting": "note_",
}
IRREGULAR = {word: base for words, base in _IRREGULAR.items() for word in words.split()}

NUMBERS = {
    word: str(number)
    for number, word in enumerate(
        "two three four five six seven eight nine ten eleven twelve".split(), 2
    )
}

# What only eases the reading, or is what an instruction means anyway.
SILENT = frozenset(
    """
    a an the some this that these those it its them they their theirs he she his her you your we
    our us i my me which who whom whose there here to of for as by than so-called
    is are was were be been being am has have had having do does did will would shall should must
    always please simply just really very quite basically actually also too indeed ever
    """.split()
)
SILENT_PHRASES = (
    "make sure to",
    "be sure to",
    "remember to",
    "take care to",
    "have to",
    "has to",
    "need to",
    "needs to",
    "ought to",
    "in order to",
    "of course",
    "at all times",
    "as well",
)

# One idea a line: what is on the right is read as what is on the left.
_SAME = {
    NOT: "not; never; no; none; neither; nor; without; avoid; refrain from; do not ever; not ever",
    WHEN: "when; whenever; if; upon; in case; as soon as; anytime; any time; every time; "
    "each time; in the event that; provided that; whensoever",
    WHILE: "while; whilst; during; throughout",
    BEFORE: "before; prior to; ahead of",
    AFTER: "after; following",
    UNTIL: "until; till; up until",
    UNLESS: "unless; except when; except if; if not for",
    BECAUSE: "because; since; due to; owing to",
    SO: "so; so that",
    THEN: "then; next; afterwards; afterward; after that; subsequently; thereafter",
    ELSE: "otherwise; else; if not; or else",
    THOUGH: "though; although; even though; even if",
    AND: "and; as well as; along with",
    OR: "or",
    "may": "may; might; can; could; be able to; is able to",
    "in": "in; inside; into; within; inside of",
    "on": "on; onto; on top of",
    "under": "under; beneath; underneath; below",
    "above": "above; over",
    "beside": "beside; next to; alongside",
    "each": "each; every",
    "only": "only; solely; merely; exclusively; nothing but",
    "quick": "immediately; at once; right away; straight away; instantly; promptly; without delay",
    "direct": "directly; straight",
    "instead": "instead of; rather than; in place of; instead",
    "eg": "for example; for instance; such as; eg",
    "take": "take; pick up; grab",
    "get": "get; acquire; obtain; procure",
    "collect": "collect; gather",
    "put": "put; place; set down; put down; lay",
    "go": "go; navigate; head; walk; travel; proceed; make your way",
    "return": "return; go back; come back",
    "examine": "examine; inspect; check; look over",
    "verify": "verify; confirm; validate; double-check; double check",
    "ensure": "ensure; make sure; see to it",
    "find": "find; locate; discover; come across",
    "search": "search; look for; hunt for; seek; look through; search for; search through",
    "start": "start; begin; commence",
    "stop": "stop; cease; quit",
    "finish": "finish; complete",
    "continue": "continue; resume; carry on; go on; keep on",
    "perform": "perform; execute; carry out; conduct",
    "use": "use; utilize; utilise; employ; make use of",
    "choose": "choose; select; opt for; pick",
    "keep": "keep; maintain; retain; preserve",
    "need": "need; require",
    "near": "nearest; closest",
    "object": "object; item; thing",
    "spot": "location; spot",
    "exact": "exactly; precisely",
    "specify": "specify; stipulate",
    "whole": "whole; entire",
    "visible": "visible; in sight; in view",
    "ignore": "ignore; disregard",
    "reach": "reach; arrive at; get to",
    "try": "try; attempt",
    "help": "help; assist; aid",
    "show": "show; display",
    "allow": "allow; permit; let",
    "remove": "remove; delete; erase",
    "change": "change; alter; modify",
    "fix": "fix; repair; mend",
    "answer": "answer; reply; respond",
    "tell": "tell; inform; notify",
    "close": "close; shut",
    "happen": "happen; occur; take place",
    "buy": "buy; purchase",
    "big": "big; large",
    "small": "small; little",
    "fast": "fast; quick; rapid; speedy",
    "enough": "enough; sufficient",
    "often": "often; frequently",
    "again": "again; once more; anew",
    "about": "about; regarding; concerning",
    "systematic": "systematic; methodical",
    "mistake": "mistake; error",
    "own": "own; possess",
}

# Words that turn, bound or count a statement: one more or one less is another statement.
WEIGHTY = frozenset(
    {
        NOT,
        OR,
        ONCE,
        "may",
        "only",
        "instead",
        "except",
        "twice",
        "each",
        "all",
        "any",
        "both",
        "either",
        "most",
        "least",
        "more",
        "less",
        "few",
        "many",
        "half",
        "first",
        "last",
        "sometim",
        "often",
        "rare",
        "wrong",
    }
)

_VOWELS = frozenset("aeiouy")
_DOUBLED = frozenset("bdgmnprt")


def stem(word: str) -> str:
    """A word without its inflection: enough for "places", "placed" and "placing" to be one."""
    word = IRREGULAR.get(word, NUMBERS.get(word, word))
    for ending, put in (("ies", "y"), ("ing", ""), ("ed", ""), ("ly", ""), ("es", ""), ("s", "")):
        base = word.removesuffix(ending)
        if base == word or len(base) < 2 or not _VOWELS & set(base):
            continue
        if (ending == "ed" and base[-1] == "e") or (ending == "s" and base[-1] in "su"):
            break
        word = base + put
        if ending in ("ing", "ed") and len(word) > 3 and word[-1] == word[-2] in _DOUBLED:
            word = word[:-1]
        break
    return word[:-1] if word.endswith("e") and len(word) > 2 else word


def _table(lines: Mapping[str, str], silent: Iterable[str]) -> dict[tuple[str, ...], str]:
    read = {
        tuple(stem(word) for word in said.split()): idea
        for idea, wordings in lines.items()
        for said in wordings.split("; ")
    }
    # Silent words are looked up as they are written, so they are not cut down before.
    return read | {tuple(stem(word) for word in said.split()): "" for said in silent}


READ_AS = _table(_SAME, SILENT_PHRASES)
"""Stems of a wording → the idea; the empty idea says nothing."""
LONGEST_PHRASE = max(map(len, READ_AS))
