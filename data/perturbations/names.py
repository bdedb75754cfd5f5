"""Named entities and their kinds, from the tree and hand-written lists; and their replacement by other names (DEMETR 9)."""

from __future__ import annotations

import random
from dataclasses import dataclass

from .lexicons import names_of, word_sequence
from .perturbation import Change, Materials, NotApplicable, Outcome, Parse, capitalised, perturbation

PLACES = ("country", "region", "continent", "city")
LISTED = (*PLACES, "organisation")
IN_PLACES = ("in", "near", "throughout", "outside", "around")
LINKS = ("of", "de", "von", "van", "da", "del", "la", "al")
OF_NAMES = word_sequence("names.of_names")
SAYING = ("say", "tell", "ask", "write", "think", "believe", "marry", "announce", "add", "claim", "argue", "explain", "state")


@dataclass(frozen=True, slots=True)
class Entity:
    """A name in the text: its words, its head, its characters, and its kind.

    Attributes
    ----------
    kind
        Person, country, region, continent, city, organisation, date, landscape, or "" where it is unknown.
    start, end
        Without a title (*Dr.*) and with an article that belongs to the name (*the Netherlands*).
    modifier
        Whether it modifies the noun after it (*Paris police*).
    """

    words: tuple[int, ...]
    head: int
    start: int
    end: int
    text: str
    kind: str
    modifier: bool


def entities(parse: Parse) -> list[Entity]:
    """Return all named entities in reading order, without those that contain digits or may be half a name."""
    results = []
    for run in _runs(parse):
        while run and _form(parse, run[0]) in names_of("title") and len(run) > 1:
            run = run[1:]
        entity = _entity(parse, run)
        if entity is not None:
            results.append(entity)
    return results


def _runs(parse: Parse) -> list[list[int]]:
    """Return maximal runs of proper nouns, one blank or hyphen between them; *of* joins where the first names an institution."""
    runs: list[list[int]] = []
    words = parse.words
    for n, word in enumerate(words):
        if not _is_name(parse, n):
            continue
        last = runs[-1] if runs else []
        if last and words[last[-1]].sentence == word.sentence:
            between = [other.text for other in words[last[-1] + 1 : n]]
            gap = parse.text[words[last[-1]].end : word.start]
            named = words[last[0]].text in OF_NAMES or _form(parse, last[-1]) in OF_NAMES
            linked = len(between) == 1 and between[0] in LINKS and (between[0] != "of" or named)
            if (not between and gap in (" ", "-")) or (linked and gap == f" {between[0]} "):
                last.extend([*(range(last[-1] + 1, n)), n])
                continue
        runs.append([n])
    return runs


def _is_name(parse: Parse, n: int) -> bool:
    word = parse.words[n]
    own = parse.has_own_span(n) and word.text[:1].isupper() and any(c.isalpha() for c in word.text)
    return own and word.xpos in ("NNP", "NNPS") and word.upos in ("PROPN", "ADJ", "NOUN")


def _form(parse: Parse, n: int) -> str:
    """Return a word with the full stop of an abbreviation that the tokeniser took off it."""
    word = parse.words[n]
    return word.text + "." if parse.text[word.end : word.end + 1] == "." and f"{word.text}." in names_of("title") else word.text


def _entity(parse: Parse, run: list[int]) -> Entity | None:
    if not run or not any(parse.pos(n) == "PROPN" for n in run):
        return None
    head = next((n for n in run if parse.head(n) not in run), run[-1])
    start, end = parse.span(run)
    odd = any(c.isdigit() or not c.isprintable() for c in parse.text[start:end]) or parse.text[end - 1] in "'’-"
    touched = any(c.isalnum() or c in "-/@&_" for c in parse.touching(start, end))
    if odd or touched or parse.text[:start].endswith(("'", "’")) or _cut(parse, run):
        return None
    text, before = parse.text[start:end], run[0] - 1
    the = parse.low(before) == "the"
    if the and any(f"the {text}" in names_of(kind) for kind in LISTED):
        run, start, text = [before, *run], parse.words[before].start, f"the {text}"
    modifier = parse.relates(head, "compound", "amod") and parse.head(head) > run[-1]
    kind = _kind(parse, run, head, text)
    if not modifier and parse.pos(before) == "DET" and not text.startswith("the "):
        if kind == "organisation" and the:
            run, start, text = [before, *run], parse.words[before].start, f"the {text}"
        elif kind != "landscape":
            kind = ""
    return Entity(tuple(run), head, start, end, text, kind, modifier)


def _cut(parse: Parse, run: list[int]) -> bool:
    """Return whether a run may be half a name only, because a capitalised word touches it that is not among the proper nouns."""
    before, after, classes = run[0] - 1, run[-1] + 1, ("ADJ", "NOUN", "NUM", "VERB")
    (start, end), titles = parse.span(run), names_of("title")
    starts = before >= 0 and parse.in_title_case(before) and parse.pos(before) in (*classes, "PROPN")
    touches = starts and parse.text[parse.words[before].end : start] == " " and _form(parse, before) not in titles
    goes_on = after < len(parse.words) and parse.in_title_case(after) and parse.pos(after) in (*classes, "X")
    of_name = before > 0 and parse.form(before) in ("of", "&") and parse.in_title_case(before - 1)
    return touches or of_name or (goes_on and parse.text[end : parse.words[after].start] == " ")


def _kind(parse: Parse, run: list[int], head: int, text: str) -> str:
    """Return the kind by the lists, then by the title or verb beside it, then by the preposition before it."""
    parts = [parse.words[n].text for n in run]
    if {parts[0], parts[-1], parts[-1].removesuffix("s")} & (names_of("month") | names_of("weekday")):
        return "date"
    for kind in LISTED:
        if text in names_of(kind) and not (len(parts) == 1 and _person_around(parse, run, head)):
            return kind
    article = run[0] > 0 and parse.low(run[0] - 1) == "the"
    institution = _institution(parts, _form(parse, run[-1]), article)
    if institution:
        return institution
    if len(parts) == 1 and _by_preposition(parse, run, head):
        return "city"
    first_names = names_of("male name") | names_of("female name")
    if _titled(parse, run) or (parts[0] in first_names and len(parts) <= 3) or _person_around(parse, run, head):
        return "person" if len(parts) <= 3 and parts[0] != "the" else ""
    return _by_preposition(parse, run, head)


def _institution(parts: list[str], last: str, article: bool) -> str:
    """Return ``organisation`` or ``landscape`` by the words that such names begin or end with; "" for anything else."""
    if parts[-1] in names_of("landscape") or parts[0] in names_of("landscape"):
        return "landscape"
    alone = len(parts) == 1 and last.endswith((".", "LLC", "Ltd", "Inc"))
    ends = not alone and {parts[-1], last} & names_of("organisation ending")
    return "organisation" if ends or (parts[0] in OF_NAMES and "of" in parts) else ""


def _titled(parse: Parse, run: list[int]) -> bool:
    """Return whether a title is right before the name."""
    return run[0] > 0 and _form(parse, run[0] - 1) in names_of("title")


def _person_around(parse: Parse, run: list[int], head: int) -> bool:
    """Return whether the context of a name is that of a person: a title, or a verb of saying."""
    governor = parse.head(head)
    speaks = parse.relation(head) == "nsubj" and parse.lemma(governor) in SAYING and len(run) <= 3
    shouted = any(len(parse.form(n)) > 1 and parse.form(n).isupper() for n in run)
    return (_titled(parse, run) or speaks) and parse.pos(run[0] - 1) != "DET" and not shouted


def _by_preposition(parse: Parse, run: list[int], head: int) -> str:
    """Return ``city`` where *in* is right before a name of one or two words; else ""."""
    place = parse.low(run[0] - 1) in IN_PLACES and parse.pos(run[0] - 1) == "ADP" and parse.relates(head, "obl", "nmod")
    plain = len(run) <= 2 and all(parse.form(n)[1:].islower() for n in run) and parse.tag(head) == "NNP"
    return "city" if place and plain and parse.relation(head) != "nmod:poss" else ""


NONE = "no named entity of a known kind with another name for it"


@perturbation("accuracy", "mistranslation - named entity", "critical", 9)
def named_entity_replaced(parse: Parse) -> Outcome:
    """Replace one mention of a person, place or organisation by another name of the same kind and gender."""
    taken = {entity.text for entity in entities(parse)}

    def make(entity: Entity) -> list[Change] | None:
        new = _other(entity, parse.rng, parse.materials, taken)
        return _put(parse, entity, new) if new else None

    return parse.choose(entities(parse), make, NONE)


def _several(parse: Parse, part: bool) -> Outcome:
    """Replace all entities, or about half of them; mentions of one entity get the same new name."""
    results = entities(parse)
    names = list(dict.fromkeys(entity.text for entity in results))
    if part:
        if len(names) < 2:
            return NotApplicable("fewer than two different named entities")
        parse.rng.shuffle(names)
        names = names[: len(names) // 2]
    taken = {entity.text for entity in results}
    new: dict[str, str | None] = {}
    for entity in results:
        if entity.text in names and entity.text not in new:
            new[entity.text] = _other(entity, parse.rng, parse.materials, taken)
            taken.add(new[entity.text] or "")
    changes = [change for e in results for name in (new.get(e.text),) if name for change in _put(parse, e, name)]
    return parse.finish(changes, NONE)


@perturbation("robustness", "entity replacement", "critical")
def entities_replaced_partially(parse: Parse) -> Outcome:
    """Replace about half of the named entities by others of the same kind (RoMe 4.7, case 1)."""
    return _several(parse, True)


@perturbation("robustness", "entity replacement", "critical")
def entities_replaced_fully(parse: Parse) -> Outcome:
    """Replace every named entity whose kind is known by another of the same kind (RoMe 4.7, case 1)."""
    return _several(parse, False)


def _other(entity: Entity, rng: random.Random, materials: Materials, taken: set[str]) -> str | None:
    """Return another name of the same kind that the text does not contain yet, or None.

    materials.names may have ``person``, ``place`` and ``organisation``, or the finer kinds of the list of names.
    """
    if entity.kind == "person":
        return _person(entity, rng, materials, taken)
    if entity.kind not in LISTED:
        return None
    pool = [*materials.names.get(entity.kind, ())]
    if not pool and entity.kind in PLACES:
        pool = [*materials.names.get("place", ())]
    fitting = [n for n in pool if n not in taken and not (entity.modifier and n.startswith("the ")) and _fits(entity, n)]
    return rng.choice(fitting) if fitting else None


def _fits(entity: Entity, name: str) -> bool:
    """Return whether a name can replace an entity: an organisation keeps or lacks its article."""
    return entity.kind != "organisation" or name.startswith("the ") == entity.text.startswith("the ")


def _person(entity: Entity, rng: random.Random, materials: Materials, taken: set[str]) -> str | None:
    """Return a first name of the same gender for a first name, a family name for a family name, both for both."""
    parts = entity.text.split()
    used = {part for name in taken for part in name.split()}

    def draw(kind: str) -> str | None:
        names = [name for name in materials.names.get(kind, ()) if name not in used]
        return rng.choice(names) if names else None

    kind = next((k for k in ("male name", "female name") if parts[0] in names_of(k)), "")
    if len(parts) == 1:
        return draw(kind or "family name") or draw("person")
    first, last = draw(kind or "male name"), draw("family name")
    return f"{first} {last}" if first and last else draw("person")


def _put(parse: Parse, entity: Entity, name: str) -> list[Change]:
    """Return the change of an entity to a name, with a capital where the sentence starts."""
    return parse.replace(entity.start, entity.end, capitalised(name) if parse.starts_sentence(entity.start) else name)
