"""Tense and aspect of verbs, and statements made questions (DEMETR 17 to 19)."""

from __future__ import annotations

from .perturbation import Change, Materials, Outcome, Parse, in_case_of, is_contiguous, perturbation

__all__ = ["DO", "clauses_that_inflect", "form_of_be"]

DO = {"VBD": "did", "VBZ": "does", "VBP": "do"}
CLITICS = {"'s", "’s", "'re", "’re", "'m", "’m", "'ve", "’ve", "'ll", "’ll", "'d", "’d"}


def form_of_be(tense: str, plural: bool, first_person: bool = False) -> str:
    """*am*, *is*, *are*, *was* or *were*: tense is ``past`` or ``present``."""
    if tense == "past":
        return "were" if plural and not first_person else "was"
    return "am" if first_person else "are" if plural else "is"


def _agreement(parse: Parse, predicate: int, finite: int) -> tuple[bool, bool]:
    """(plural, first person singular) that the finite verb of a clause shows: by its own form, else by its subject's."""
    subject = parse.subject(predicate)
    if parse.relation(predicate) == "conj" and subject is None and parse.words[predicate].head >= 0:
        subject = parse.subject(parse.words[predicate].head)
    finite_word = parse.words[finite]
    first = (
        subject is not None
        and parse.words[subject].text == "I"
        and not any(parse.relation(n) == "conj" for n in parse.children(subject))
    )
    if finite_word.xpos in ("VBZ", "VBP"):
        return finite_word.xpos == "VBP", first
    if finite_word.text.lower() in ("was", "were"):
        return finite_word.text.lower() == "were", first
    if subject is not None and parse.tag(subject) in ("WDT", "WP", "WRB"):
        antecedent = parse.words[predicate].head
        return antecedent >= 0 and parse.is_plural(antecedent), False
    return subject is not None and parse.is_plural(subject), first


def clauses_that_inflect(parse: Parse) -> list[tuple[int, int]]:
    """Clauses with a subject of their own (or shared by coordination) whose finite word is read rightly: it stands in its own
    characters, is no clitic, and inflecting its lemma gives it."""
    found = []
    for predicate, finite in parse.clauses():
        word = parse.words[finite]
        auxiliary = word.upos == "AUX" or word.lemma.lower() in ("be", "have", "do")
        right = auxiliary or word.xpos == "MD" or _reads(word.lemma.lower(), word.xpos, word.text.lower(), parse.materials)
        subject = parse.subject(predicate)
        known = subject is not None or parse.relation(predicate) == "conj"
        if parse.has_own_span(finite) and word.text.lower() not in CLITICS and right and known:
            found.append((predicate, finite))
    return found


def _reads(lemma: str, tag: str, form: str, materials: Materials) -> bool:
    """Whether the lemma has this form under this tag."""
    return lemma == form if tag == "VBP" else materials.inflect(lemma, tag) == form


@perturbation("fluency", "grammar - tense", "major", 17)
def tense(parse: Parse) -> Outcome:
    """One finite verb in another tense: *were* -> *are*, *finds* -> *found*, *found* -> *will find*, *will find* -> *found*."""
    return parse.choose(
        clauses_that_inflect(parse), lambda pair: _other_tense(parse, *pair), "no finite verb with another tense"
    )


def _other_tense(parse: Parse, predicate: int, finite: int) -> list[Change] | None:
    word = parse.words[finite]
    lemma, low = word.lemma.lower(), word.text.lower()
    plural, first = _agreement(parse, predicate, finite)
    if low == "will" and finite + 1 == predicate and parse.tag(predicate) == "VB" and parse.stands_alone(predicate):
        main = parse.words[predicate]
        past = form_of_be("past", plural, first) if main.lemma == "be" else parse.materials.inflect(main.lemma.lower(), "VBD")
        return [(word.start, main.end, in_case_of(past, word.text))] if past else None
    if word.xpos == "MD":
        return None
    new: str | None
    if lemma == "be":
        new = form_of_be("present" if word.xpos == "VBD" else "past", plural, first)
    elif word.xpos in ("VBZ", "VBP"):
        new = {"do": "did", "have": "had"}.get(lemma) or parse.materials.inflect(lemma, "VBD")
    elif word.upos == "VERB" and finite == predicate and parse.stands_alone(finite) and parse.rng.random() < 0.3:
        new = f"will {lemma}"
    else:
        present = "VBP" if plural or first else "VBZ"
        new = {"do": DO[present], "have": "have" if present == "VBP" else "has"}.get(lemma) or (
            lemma if present == "VBP" else parse.materials.inflect(lemma, "VBZ")
        )
    return [(word.start, word.end, in_case_of(new, word.text))] if new and new != low else None


@perturbation("fluency", "grammar - aspect", "major", 18)
def aspect(parse: Parse) -> Outcome:
    """One verb in another aspect and the same tense: *finds* -> *is finding* or *has found*, *has found* -> *is finding*."""
    return parse.choose(
        clauses_that_inflect(parse), lambda pair: _other_aspect(parse, *pair), "no finite verb with another aspect"
    )


def _other_aspect(parse: Parse, predicate: int, finite: int) -> list[Change] | None:
    word = parse.words[finite]
    if word.xpos == "MD" or word.lemma.lower() == "do" and finite != predicate or not parse.stands_alone(finite):
        return None
    plural, first = _agreement(parse, predicate, finite)
    time = "past" if word.xpos == "VBD" else "present"
    be = form_of_be(time, plural, first)
    have = "had" if time == "past" else "have" if plural or first else "has"
    if finite == predicate or word.relation in ("cop", "aux:pass"):
        if _inverted(parse, predicate, finite):
            return None
        forms = [
            (be, parse.materials.inflect(word.lemma.lower(), "VBG")),
            (have, parse.materials.inflect(word.lemma.lower(), "VBN")),
        ]
        drawn = parse.rng.choice([(helper, form) for helper, form in forms if form] or [("", "")])
        return [(word.start, word.end, in_case_of(" ".join(drawn), word.text))] if drawn[0] else None
    return _from_compound(parse, predicate, finite, be, have)


def _from_compound(parse: Parse, predicate: int, finite: int, be: str, have: str) -> list[Change] | None:
    """Perfect to progressive (*has found* -> *is finding*) and back; both verbs change where they stand."""
    word = parse.words[finite]
    following = [n for n in (*parse.children(predicate), predicate) if n > finite and parse.pos(n) in ("AUX", "VERB")]
    following = [n for n in following if n == predicate or parse.relates(n, "aux", "cop")]
    main = following[0] if following else predicate
    coordinated = any(parse.relation(n) == "conj" for n in parse.children(predicate))
    verb = parse.words[main]
    if not parse.stands_alone(main) or coordinated or _inverted(parse, predicate, finite):
        return None
    helper, tag = {("have", "VBN"): (be, "VBG"), ("be", "VBG"): (have, "VBN")}.get((word.lemma.lower(), verb.xpos), ("", ""))
    form = parse.materials.inflect(verb.lemma.lower(), tag) if tag else None
    return [(word.start, word.end, in_case_of(helper, word.text)), (verb.start, verb.end, form)] if form else None


def _inverted(parse: Parse, predicate: int, finite: int) -> bool:
    """Whether the subject follows the finite verb."""
    subject = parse.subject(predicate)
    return subject is not None and subject > finite


@perturbation("fluency", "grammar - interrogative", "major", 19)
def interrogative(parse: Parse) -> Outcome:
    """A statement becomes a question: *This is the tenth time.* -> *Is this the tenth time?*"""
    pairs = [pair for pair in clauses_that_inflect(parse) if parse.words[pair[0]].relation == "root"]
    reason = "no plain statement with its subject before the verb"
    return parse.choose(pairs, lambda pair: _asked(parse, *pair), reason)


def _asked(parse: Parse, predicate: int, finite: int) -> list[Change] | None:
    """The finite verb, or *do*, before the subject that opens the sentence, and a question mark for the full stop."""
    sentence = parse.sentences[parse.words[predicate].sentence]
    subject = parse.subject(predicate)
    last = [word for word in parse.words if word.sentence == parse.words[predicate].sentence][-1]
    marks = any(c in parse.text[sentence.start : sentence.end] for c in '"“”?:;')
    if subject is None or subject > finite or last.text != "." or marks:
        return None
    phrase = parse.subtree(subject)
    opens = parse.starts_sentence(parse.words[phrase[0]].start)
    moved = _moved(parse, predicate, finite) if is_contiguous(phrase) and phrase[-1] < finite and opens else None
    if moved is None:
        return None
    verb, gap = moved
    first = parse.words[phrase[0]]
    keeps = (
        first.xpos.startswith("NNP") or first.upos == "PROPN" or first.text == "I" or first.text[1:] != first.text[1:].lower()
    )
    lead = first.text if keeps else first.text[0].lower() + first.text[1:]
    return [(first.start, first.end, f"{verb.capitalize()} {lead}"), gap, (last.start, last.end, "?")]


def _moved(parse: Parse, predicate: int, finite: int) -> tuple[str, Change] | None:
    """The word that goes to the front, with *n't* if that is joined to it, and what happens where the finite verb stood."""
    word, text = parse.words[finite], parse.text
    if finite == predicate and word.lemma.lower() != "be":
        shared = any(
            parse.relation(n) == "conj" and parse.tag(n) in DO and parse.subject(n) is None for n in parse.children(predicate)
        )
        plain = word.xpos in DO and parse.stands_alone(finite) and not shared
        return (DO[word.xpos], (word.start, word.end, word.lemma.lower())) if plain else None
    end = word.end
    if finite + 1 < len(parse.words) and parse.words[finite + 1].text in ("n't", "n’t"):
        end = parse.words[finite + 1].end
    return (text[word.start : end], (word.start, end + 1, "")) if text[end : end + 1] == " " else None
