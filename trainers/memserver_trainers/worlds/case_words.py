"""The words of CaseWorld: topics, which fill a sentence and steer its vector, and skills, which a
few words give away. Each skill has words for training, for validation and for the test."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Skill:
    """Ways to ask for it, each read after "I need to", by the split that may say them; cases are
    told in the words of training."""

    train: tuple[str, ...]
    validation: tuple[str, ...]
    test: tuple[str, ...]


SKILLS = {
    "ordering": Skill(
        train=(
            "put them in alphabetical order",
            "sort them from first to last",
            "arrange them by date",
            "rank them from best to worst",
            "bring them into the right sequence",
            "order them by size",
        ),
        validation=("line them up from oldest to newest", "sort the list by name"),
        test=("rank the whole list in order", "arrange everything in ascending order"),
    ),
    "counting": Skill(
        train=(
            "count how many there are",
            "keep a tally of them",
            "find the total number",
            "take stock of the quantity",
            "say how many are left",
            "number them all and add up",
        ),
        validation=("work out the count", "tell how many we have"),
        test=("get a total count", "tally the number of pieces"),
    ),
    "translating": Skill(
        train=(
            "translate the words into French",
            "say the same in Spanish",
            "render the text in German",
            "find the Italian words for it",
            "put the sentence into Portuguese",
            "write it in another language",
        ),
        validation=("give a Dutch translation", "turn the English into Polish"),
        test=("translate the note into Swedish", "say it in a foreign language"),
    ),
    "paying": Skill(
        train=(
            "work out what it costs",
            "pay the invoice",
            "settle the bill",
            "compare prices and set a budget",
            "ask for the money back",
            "send out a quote in euros",
        ),
        validation=("check the price and pay", "estimate the expense"),
        test=("pay the outstanding bill", "calculate the cost in dollars"),
    ),
    "scheduling": Skill(
        train=(
            "plan a date in the calendar",
            "set a meeting for Tuesday",
            "make a timetable for the week",
            "move the appointment to the afternoon",
            "book a slot for tomorrow morning",
            "schedule it before the deadline",
        ),
        validation=("fix an appointment next Friday", "find a free hour in the diary"),
        test=("schedule a date next week", "reserve a time on Monday in the calendar"),
    ),
    "repairing": Skill(
        train=(
            "repair what is broken",
            "fix the crack",
            "replace the worn part",
            "mend the tear",
            "find out why it stopped working",
            "put the broken pieces together again",
        ),
        validation=("mend the damaged part", "fix what no longer works"),
        test=("repair the damage", "get the broken one working again"),
    ),
    "drawing": Skill(
        train=(
            "draw a sketch of it",
            "paint a picture",
            "make a diagram with labels",
            "illustrate it in colour",
            "design a logo",
            "draw a map of the place",
        ),
        validation=("sketch it on paper", "make a coloured drawing"),
        test=("draw a picture with a pencil", "paint an illustration"),
    ),
    "warning": Skill(
        train=(
            "warn people of the danger",
            "check that it is safe",
            "list the risks and hazards",
            "put up a safety notice",
            "prevent an accident",
            "tell everyone what is dangerous",
        ),
        validation=("point out the hazards", "make sure that nobody gets hurt"),
        test=("warn everybody of the risk", "write a safety warning"),
    ),
}

TOPICS = {
    "bakery": ("sourdough loaves", "croissants", "rye flour", "the bread oven", "cinnamon buns"),
    "harbour": ("fishing boats", "the tide", "mooring ropes", "the lighthouse", "sailing yachts"),
    "orchard": ("apple trees", "ripe pears", "beehives", "the cider press", "plum blossom"),
    "observatory": ("telescopes", "distant galaxies", "star charts", "the moon", "meteor showers"),
    "stable": ("ponies", "saddles", "horseshoes", "hay bales", "the riding arena"),
    "aquarium": ("seahorses", "coral reefs", "jellyfish tanks", "sharks", "sea turtles"),
    "vineyard": ("grapevines", "oak barrels", "red wine", "the cellar", "Riesling grapes"),
    "railway": ("steam locomotives", "railway carriages", "signal boxes", "tracks", "the platform"),
    "theatre": ("stage costumes", "the curtain", "actors", "spotlights", "the orchestra pit"),
    "glacier": ("crevasses", "ice axes", "snow bridges", "crampons", "the polar hut"),
    "pottery": ("clay bowls", "the kiln", "glazed vases", "the potter's wheel", "porcelain cups"),
    "pharmacy": ("cough syrup", "vitamin tablets", "bandages", "ointments", "prescriptions"),
    "airport": ("runways", "cabin luggage", "passenger jets", "boarding gates", "pilots"),
    "forest": ("mushrooms", "beech trees", "deer tracks", "fallen logs", "owls"),
    "dairy": ("goat cheese", "milk churns", "butter", "the cows", "yoghurt pots"),
    "fortress": ("drawbridges", "suits of armour", "the dungeon", "cannons", "watchtowers"),
}
