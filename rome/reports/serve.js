"use strict";
(() => {
  const PAUSE = 300;
  const byId = (name) => document.getElementById(name);
  const references = byId("references"), hypothesis = byId("hypothesis"), edited = byId("edited");
  const EXAMPLE = ["The museum opens at nine on weekdays, and all 15 rooms are free.", "On weekdays the museum opens at ten and all 50 room are free."];

  /* What was explained last: the texts that an edit is compared with. */
  let explained = null;

  const say = (place, text, wrong = false) => {
    place.textContent = text;
    place.classList.toggle("wrong", wrong);
  };

  /* The answer's article, as a notebook shows it, without the style that this page has; a refusal is thrown with its message. */
  const ask = async (path, body, signal) => {
    const headers = { "Content-Type": "application/json", Accept: "text/html" };
    const answer = await fetch(path, { method: "POST", headers, body: JSON.stringify(body), signal });
    const text = await answer.text();
    if (!answer.ok) throw new Error(JSON.parse(text).error.message);
    return text.slice(text.indexOf("<article"), text.lastIndexOf("</article>"));
  };

  /* One question at a time in a place: a later one ends an earlier one, which then says nothing. */
  const asking = (box, status) => {
    let last = null;
    return async (path, body) => {
      last?.abort();
      const mine = (last = new AbortController());
      if (!body) return box.removeAttribute("aria-busy"), null;
      box.setAttribute("aria-busy", "true");
      say(status, "Scoring …");
      try {
        const article = await ask(path, body, mine.signal);
        if (mine !== last) return null;
        say(status, "");
        box.innerHTML = article;
        box.hidden = false;
        return article;
      } catch (error) {
        if (mine === last) say(status, error instanceof TypeError ? "The service does not answer: is it still running?" : error.message, true);
        return null;
      } finally {
        if (mine === last) box.removeAttribute("aria-busy");
      }
    };
  };
  const explain = asking(byId("explanation"), byId("said"));
  const change = asking(byId("change"), byId("moved"));

  const number = () => {
    const all = [...references.children];
    all.forEach((one, place) => {
      const text = one.querySelector("textarea"), name = all.length > 1 ? `Reference ${place + 1}` : "Reference";
      text.id = `reference-${place}`;
      Object.assign(one.querySelector("label"), { htmlFor: text.id, textContent: name });
      const button = one.querySelector("button");
      button.hidden = all.length < 2;
      button.setAttribute("aria-label", `Remove ${name.toLowerCase()}`);
    });
  };

  const add = (value = "") => {
    const one = byId("reference").content.firstElementChild.cloneNode(true), text = one.querySelector("textarea");
    text.value = value;
    one.querySelector("button").addEventListener("click", () => {
      const next = one.nextElementSibling ?? one.previousElementSibling;
      one.remove();
      number();
      next.querySelector("textarea").focus();
    });
    references.append(one);
    number();
    return text;
  };

  const texts = () => {
    const given = [...references.querySelectorAll("textarea")].map((text) => text.value);
    return { reference: given.length > 1 ? given : given[0], hypothesis: hypothesis.value };
  };

  const showSame = () => {
    byId("change").hidden = true;
    byId("back").disabled = byId("keep").disabled = true;
    say(byId("moved"), "No edit yet: change a word above.");
  };

  const submit = async () => {
    const asked = texts();
    if (!byId("form").reportValidity()) return;
    if (!(await explain("/explain", asked))) return;
    explained = asked;
    byId("explained").hidden = byId("what-if").hidden = false;
    edited.value = asked.hypothesis;
    change("", null);
    showSame();
    say(byId("said"), "Explained below.");
  };

  let timer = 0;
  edited.addEventListener("input", () => {
    clearTimeout(timer);
    change("", null);
    if (edited.value === explained.hypothesis) return showSame();
    byId("back").disabled = byId("keep").disabled = false;
    timer = setTimeout(() => change("/what-if", { ...explained, edited: edited.value }), PAUSE);
  });
  byId("back").addEventListener("click", () => {
    edited.value = explained.hypothesis;
    edited.dispatchEvent(new Event("input"));
    edited.focus();
  });
  byId("keep").addEventListener("click", () => {
    clearTimeout(timer);
    hypothesis.value = edited.value;
    submit();
    edited.focus();
  });

  byId("form").addEventListener("submit", (event) => { event.preventDefault(); submit(); });
  byId("form").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); submit(); }
  });
  byId("add").addEventListener("click", () => add().focus());
  byId("example").addEventListener("click", () => {
    references.replaceChildren();
    add(EXAMPLE[0]);
    hypothesis.value = EXAMPLE[1];
    byId("explain").focus();
  });
  add();
})();
