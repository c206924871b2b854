"""Closed classes of English words that the rules go by. Nothing here belongs to one kind of text:
a list is here because the language has no more such words, or because a reading would be unsure."""

from memserver_skills.words import FUNCTION_WORDS


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


PRONOUNS = _set(
    "i me you he him she her it we us they them this that these those who whom what which whose "
    "mine yours hers ours theirs myself itself himself herself themselves"
)
QUANTIFIERS = _set(
    "everyone everybody everything someone somebody something anyone anybody anything noone nobody "
    "nothing none all some any each every both many most few several no neither either else other"
)
TIME_WORDS = _set(
    "today yesterday tomorrow tonight now then soon later earlier recently lately currently "
    "nowadays once monday tuesday wednesday thursday friday saturday sunday"
)
WH_WORDS = _set("how where when why what who which whose")
VERBS_BE_DO = _set(
    "is are was were be been being am has have had having do does did will would shall should can "
    "could may might must says said told tells think thinks thought know knows knew"
)

NO_NAME = (
    PRONOUNS
    | QUANTIFIERS
    | TIME_WORDS
    | WH_WORDS
    | VERBS_BE_DO
    | _set(
        "let here there please note notes remember remind forget correction update updates "
        "reminder fyi btw ok okay yes no hi hey hello thanks thank well so also actually "
        "maybe perhaps "
        "yeah yep yup nope wow aww haha lol sure cool great good nice awesome "
        "sounds looks feels seems warning attention edit news info information question "
        "answer idea example todo ps nb "
        "because since although though while if unless whether that's it's and or but not never "
        "always just only even still yet already set change make drop ignore remove delete cancel "
        "record the a an my your our his their its from to in on at by with about as for until till"
    )
)
"""Words that begin no name, even where a capital makes them look like one."""

NAME_LINKS = _set("of the de del della di da du la le van von der den bin al and & for y e")
"""Words that may stand in lower case inside a name."""

NO_KEY = (
    PRONOUNS
    | QUANTIFIERS - _set("other")
    | VERBS_BE_DO - _set("may can will")
    | _set(
        "the a an my your our his their its and or but nor so than then because if unless whether "
        "although though while not never always just only even still yet already very too really "
        "quite also again now here there why how when where sure happy sad glad afraid ready about "
        "please like please said going coming getting trying doing saying looking known"
    )
)
"""Words that no name of an attribute holds."""

KEY_LINKS = FUNCTION_WORDS & _set("of in at for to on by from with per after before next last up")
"""Function words that may stand inside an attribute's name: "date of birth", "next of kin"."""

NO_KEY_ALONE = _set(
    "lot lots kind kinds sort sorts type part parts end rest most one ones some couple number "
    "beginning start middle top bottom case point way ways bit piece pair cup bottle bunch thing "
    "things fact matter sake sense fan surge love time times day days"
)
"""Nouns that say how much or which part, rather than what of somebody."""

PERIODS = _set(
    "day week month year season morning afternoon evening night moment hour weekend time century"
)

MONTHS = _set(
    "january february march april may june july august september october november december"
)

FORMER = _set("old previous former earlier prior past ex original outdated")
"""Before an attribute's name, these say that the value is not the present one."""

RENEWED = _set("new newest latest updated revised correct corrected actual right")
PRESENT = _set("current present currently same own")

PRAISE = _set(
    "awesome amazing great gorgeous lovely wonderful beautiful fantastic incredible priceless cute "
    "cool nice good perfect brilliant super stunning adorable terrible horrible awful bad key fun "
    "tough hard hilarious impressive inspiring infectious essential interesting exciting okay fine"
)
"""What is said of one's own things in passing ("my family is awesome"); no value to keep."""

DEGREES = _set("very so really super pretty absolutely quite too totally just truly also")

NO_KEY_END = _set("favorite favourite best worst same lately") | TIME_WORDS
"""An attribute's name does not end so: something was left out."""

VAGUE = _set(
    "it that this so here there different same wrong incorrect mistaken something nothing anything "
    "everything true false important unclear unsure what who why how known another better worse "
    "what it was changed"
)
"""Words that state no value when they are all that follows."""

NO_VALUE_START = (
    PRONOUNS - _set("her his")
    | WH_WORDS
    | _set(
        "not never because if whether going coming trying getting doing being having looking about "
        "hardly neither nor than that's there's so supposed able unable no-longer probably maybe "
        "perhaps possibly likely unlikely rumored rumoured said believed thought always sometimes "
        "usually often"
    )
)

HEDGES = _set(
    "if whether unless suppose supposing supposed assuming assume imagine pretend might could "
    "would perhaps maybe possibly probably presumably hopefully wonder wondering doubt doubtful "
    "guess unsure hypothetically rumour rumor rumours rumors wish seemingly supposedly allegedly "
    "hardly lest"
)
"""Words that make a statement of the sentence unsure, asked or wished for."""
