// The assistant's own behaviour in the page that needs no server: scrolling along, Enter to send, the drawer.
// demo_app/components/assistant*.py and demo_app/state/chat.py call it.
(() => {
  "use strict";

  const byId = (id) => document.getElementById(id);
  const NEAR_PX = 80;
  const DECISION_GAP_PX = 8;
  let follows = true;
  let height = 0;

  let decision = null;

  const DECISION = ["asking", "open"].map((phase) => `[data-card=tool][data-phase=${phase}]`).join() + ",[data-card=interrupt]";

  // Where a card begins, as a scroll position of the transcript.
  const topOf = (log, card) =>
    log.scrollTop + card.getBoundingClientRect().top - log.getBoundingClientRect().top - DECISION_GAP_PX;

  // At the end, or at the beginning of a decision that is taller than what is seen.
  function isNear(log) {
    if (log.scrollHeight - log.scrollTop - log.clientHeight < NEAR_PX) return true;
    const card = decision && log.querySelector(DECISION);
    return Boolean(card) && Math.abs(topOf(log, card) - log.scrollTop) < NEAR_PX;
  }

  // What the visitor is asked is shown from its beginning, on a sheet that is high enough. Says whether one is open.
  function showDecision(log) {
    const card = log.querySelector(DECISION);
    const asked = card ? card.dataset.call : null;
    if (asked !== null && asked !== decision) {
      window.hallaShell.expand();
      if (follows) log.scrollTop = Math.min(topOf(log, card), log.scrollHeight);
    }
    decision = asked;
    return asked !== null;
  }

  function toTheEnd() {
    follows = true;
    const log = byId("assistant-transcript");
    if (log) log.scrollTop = log.scrollHeight;
  }

  // Follows what is written while the reader is at the end, and leaves them in peace elsewhere.
  function watch(log) {
    log.addEventListener("scroll", () => {
      if (log.scrollHeight === height) follows = isNear(log);
      height = log.scrollHeight;
    });
    new MutationObserver(() => {
      const grown = log.scrollHeight - height;
      // Earlier entries came in above: what is read stays where it is.
      if (!follows && log.scrollTop < NEAR_PX && grown > 0 && log.dataset.earlier === "asked") {
        log.scrollTop += grown;
        delete log.dataset.earlier;
      }
      height = log.scrollHeight;
      if (!showDecision(log) && follows) log.scrollTop = log.scrollHeight;
      rescueFocus();
      focusMistake();
    }).observe(log, {
      childList: true,
      subtree: true,
      characterData: true,
      attributes: true,
      attributeFilter: ["data-phase", "aria-invalid"],
    });
    // What stands below, such as a notice, takes room from the transcript: its end stays in sight.
    new ResizeObserver(() => {
      if (follows && decision === null) log.scrollTop = log.scrollHeight;
    }).observe(log);
    if (!showDecision(log)) toTheEnd();
  }

  function grow(field) {
    field.style.height = "auto";
    field.style.height = Math.min(field.scrollHeight, 180) + "px";
  }

  // The panel is drawn once and stays; it may be drawn after this file has run.
  const waiting = new MutationObserver(() => {
    const log = byId("assistant-transcript");
    // The file field is hidden behind its button, but tools for reading pages find it.
    const files = document.querySelector("#assistant-composer input[type=file]");
    const label = document.documentElement.lang === "ko" ? "첨부 파일" : "Attachments";
    if (files && files.getAttribute("aria-label") !== label) files.setAttribute("aria-label", label);
    if (log && !log.dataset.watched) {
      log.dataset.watched = "true";
      watch(log);
    }
  });
  waiting.observe(document, { childList: true, subtree: true, attributes: true, attributeFilter: ["lang"] });

  document.addEventListener("keydown", (event) => {
    const field = event.target;
    // What is to be done is said with a button, never by the way in a field.
    if (event.key === "Enter" && field.matches("form.consent input")) event.preventDefault();
    if (field.id !== "chat-input" || event.key !== "Enter") return;
    // Enter also ends the composition of a Korean syllable: that is not yet a wish to send.
    if (event.shiftKey || event.isComposing || event.keyCode === 229) return;
    event.preventDefault();
    const { ready, active } = field.form.dataset;
    if (ready === "true" && active !== "true") field.form.requestSubmit();
  });
  // Before the page is alive a form would be sent the browser's own way; without a connection it would be emptied.
  document.addEventListener(
    "submit",
    (event) => {
      const composer = event.target.id === "chat-composer" ? event.target.dataset : null;
      // A message does not leave without the files that are still on their way.
      if (composer && (composer.ready !== "true" || composer.uploading === "true")) {
        event.preventDefault();
        event.stopPropagation();
      }
      const verdict = event.target.querySelector("input.verdict");
      if (verdict) verdict.value = event.submitter?.dataset.verdict ?? "false";
    },
    true,
  );
  document.addEventListener("input", (event) => {
    if (event.target.id === "chat-input") grow(event.target);
    const form = event.target.closest("form.consent");
    const asked = form?.querySelector(".asked");
    if (asked && asked.dataset.edited !== "true") {
      asked.dataset.edited = "true";
      showButtons(form);
    }
  });
  document.addEventListener("reset", (event) => {
    const field = byId("chat-input");
    if (event.target.id === "chat-composer" && field) requestAnimationFrame(() => grow(field));
  });
  document.addEventListener("click", (event) => {
    const log = byId("assistant-transcript");
    if (log && event.target.closest("#chat-earlier")) log.dataset.earlier = "asked";
  });

  // What had the focus is about to go away (a form that was sent): the focus then goes to the transcript, not nowhere.
  let keepUntil = 0;
  function keepFocus() {
    keepUntil = performance.now() + 3000;
    rescueFocus();
  }
  function rescueFocus() {
    if (performance.now() > keepUntil || document.activeElement !== document.body) return;
    keepUntil = 0;
    byId("assistant-transcript")?.focus({ preventScroll: true });
  }

  // A form that was sent and not taken: its first mistake gets the focus once the page shows it.
  let mistakeIn = null;
  function showMistake(call) {
    mistakeIn = call;
    setTimeout(() => {
      if (mistakeIn === call) mistakeIn = null;
    }, 3000);
    focusMistake();
  }
  function focusMistake() {
    if (mistakeIn === null || document.activeElement?.matches("[aria-invalid=true]")) return;
    for (const card of document.querySelectorAll("#assistant-transcript [data-call]")) {
      const field = card.dataset.call === mistakeIn && card.querySelector("[aria-invalid=true]");
      if (!field) continue;
      field.focus();
      showButtons(field.form);
    }
  }
  // A form that grew by a line keeps its buttons in sight.
  function showButtons(form) {
    form?.querySelector(".form-actions")?.scrollIntoView({ block: "nearest" });
  }
  // Whoever goes on by hand is not pulled back.
  for (const deed of ["keydown", "pointerdown"]) {
    document.addEventListener(deed, () => (mistakeIn = null), true);
  }

  // Files on their way: the composer shows it, and those that do not arrive are told to the app by name.
  let lost = [];
  function lostFiles() {
    return lost.splice(0);
  }
  const send = XMLHttpRequest.prototype.send;
  XMLHttpRequest.prototype.send = function (body) {
    const files = body instanceof FormData ? body.getAll("files").filter((one) => one instanceof File) : [];
    const composer = byId("chat-composer");
    if (files.length > 0 && composer) {
      composer.dataset.uploading = "true";
      this.addEventListener("loadend", () => {
        delete composer.dataset.uploading;
        if (this.status >= 200 && this.status < 300) return;
        lost.push(...files.map((file) => file.name.replace(/^\.\//, "")));
        byId("chat-upload-failed")?.click();
      });
    }
    return send.call(this, body);
  };

  function openInspector() {
    const dialog = byId("inspector");
    if (dialog && !dialog.open) dialog.showModal();
  }

  function closeInspector() {
    byId("inspector")?.close();
  }

  function copied() {
    window.hallaShell.announce(document.documentElement.lang === "ko" ? "복사했습니다" : "Copied");
  }

  window.hallaChat = Object.freeze({ toTheEnd, openInspector, closeInspector, copied, keepFocus, showMistake, lostFiles });
})();
