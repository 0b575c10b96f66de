// The frame's own behaviour that needs no server: the page's language, the assistant's sheet, moving the focus.
// Loaded in the head before the page is drawn; demo_app/components/shell.py calls it.
(() => {
  "use strict";
  const root = document.documentElement;
  const docked = window.matchMedia("(min-width: 67.5rem)"); // as in halla.css
  let opener = null;

  const byId = (id) => document.getElementById(id);

  function setLanguage(language) {
    root.lang = language === "ko" ? "ko" : "en";
  }

  // What lies behind a sheet that covers the page is out of reach of keyboard and screen reader.
  function coverPage(covered) {
    for (const element of document.querySelectorAll(".side, #main, .skip-link")) element.inert = covered;
  }

  // "closed", "open" (over the page), "half" (below the page, so that both are seen). Docked, the panel is always there.
  function setAssistant(mode) {
    const before = root.dataset.assistant ?? "closed";
    root.dataset.assistant = mode;
    const covers = mode === "open" && !docked.matches;
    coverPage(covers);
    byId("assistant-open")?.setAttribute("aria-expanded", String(mode !== "closed"));
    if (docked.matches || mode === before) return;
    if (mode === "open") {
      opener = document.activeElement;
      byId("assistant-title")?.focus({ preventScroll: true });
    } else if (mode === "closed") {
      const target = opener?.isConnected && opener !== document.body ? opener : byId("assistant-open");
      target?.focus({ preventScroll: true });
      opener = null;
    }
  }

  // Before a tool acts on the page: a sheet that covers it makes room.
  function makeRoom() {
    if (!docked.matches && root.dataset.assistant === "open") setAssistant("half");
  }

  // A half sheet takes the whole height again, for what needs it.
  function expand() {
    if (!docked.matches && root.dataset.assistant === "half") setAssistant("open");
  }

  let shownPath = null;

  // A page that comes without a load is not announced by the browser: say its heading, once it has one.
  function pageChanged(path, tries = 60) {
    const first = shownPath === null;
    shownPath = path;
    if (first) return;
    const look = (left) => {
      if (shownPath !== path) return;
      const page = document.querySelector("[data-page]");
      const heading = page?.querySelector("h1")?.textContent;
      if (heading && page.dataset.load !== "loading") announce(heading);
      else if (left > 0) requestAnimationFrame(() => look(left - 1));
    };
    requestAnimationFrame(() => look(tries));
  }

  function announce(text) {
    const region = byId("agent-announcer");
    if (!region) return;
    region.textContent = "";
    requestAnimationFrame(() => {
      region.textContent = text;
    });
  }

  // The element may appear with the next update of the page, so look again for a few frames.
  function focus(id, tries = 30) {
    const element = byId(id);
    if (element) element.focus();
    else if (tries > 0) requestAnimationFrame(() => focus(id, tries - 1));
  }

  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || event.defaultPrevented || docked.matches) return;
    if ((root.dataset.assistant ?? "closed") !== "closed") setAssistant("closed");
  });
  docked.addEventListener("change", () => setAssistant("closed"));

  try {
    setLanguage(localStorage.getItem("halla-language"));
  } catch {
    setLanguage("en"); // storage is blocked: the page still works, in English
  }

  window.hallaShell = { setLanguage, setAssistant, makeRoom, expand, announce, pageChanged, focus };
})();
