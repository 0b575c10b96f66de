// The browser side of the frontend tools (demo_app/frontend_tools.py declares them).
//
//   window.agentTools.run(name, argumentsJson) -> Promise<string>
//
// The promise never rejects. Its string is JSON: {"ok": true, "result": {...}} or
// {"ok": false, "error": {"code": "...", "message": "..."}}. A tool answers what the page shows once it shows it, within
// a deadline; what it did not see it does not claim. Arguments come from a model and are hostile until proven otherwise:
// pages are a closed list, elements are found by comparing names (never by building a selector), values are set, never
// parsed as markup, script or address.
(() => {
  "use strict";

  const DEADLINE_MS = 8000;
  const HIGHLIGHT_MS = 6000;
  const IMAGE_SCALE = 2;

  class ToolFailure extends Error {
    constructor(code, message) {
      super(message);
      this.code = code;
    }
  }

  const fail = (code, message) => {
    throw new ToolFailure(code, message);
  };

  // Pages by name: where they are, how their root is known.
  const PAGES = {
    dashboard: { path: () => "/" },
    orders: { path: () => "/orders" },
    order: {
      path: (args) => `/orders/${orderNumber(args)}`,
      same: (root, args) => root.dataset.order === String(orderNumber(args)),
    },
    new_order: { path: () => "/orders/new" },
    products: { path: () => "/products" },
    invoices: { path: () => "/invoices" },
  };

  const FILTERS = {
    orders: { status: ["orders-status"], query: "orders-query" },
    products: { status: ["products-status", "products-category"], query: "products-query" },
    invoices: { status: ["invoices-status"], query: "invoices-query" },
  };

  // Form fields by argument: the control's id, and the page attribute that mirrors the app's state of it.
  const FORMS = {
    new_order: {
      page: "new_order",
      fields: {
        customer_id: { id: "new-order-customer", mirror: "customer" },
        sku: { id: "new-order-product", mirror: "product" },
        quantity: { id: "new-order-quantity", mirror: "quantity" },
        note: { id: "new-order-note", mirror: "note" },
      },
    },
  };

  const own = (table, key, what) => {
    if (typeof key === "string" && Object.hasOwn(table, key)) return table[key];
    return fail("unknown_" + what, `There is no ${what} ${JSON.stringify(key)}; known are: ${Object.keys(table).join(", ")}.`);
  };

  function orderNumber(args) {
    const number = args.order_id;
    if (!Number.isSafeInteger(number) || number < 1) {
      fail("invalid_arguments", `order_id must be a whole number from 1, not ${JSON.stringify(number)}.`);
    }
    return number;
  }

  // Waits until `look` gives something other than undefined, null or false.
  function until(look, what, deadline = DEADLINE_MS) {
    return new Promise((resolve, reject) => {
      let timer = 0;
      const observer = new MutationObserver(check);
      function finish(settle, value) {
        observer.disconnect();
        clearTimeout(timer);
        settle(value);
      }
      function check() {
        try {
          const found = look();
          if (found !== undefined && found !== null && found !== false) finish(resolve, found);
        } catch (error) {
          finish(reject, error);
        }
      }
      observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
      timer = setTimeout(
        () => finish(reject, new ToolFailure("timeout", `${what} did not happen within ${deadline / 1000} s.`)),
        deadline,
      );
      check();
    });
  }

  const plainPath = () => location.pathname.replace(/(.)\/$/, "$1");
  const pageRoot = () => document.querySelector("[data-page]");

  // Whether the page's data was read for the address in the bar, and not for the one before it.
  const address = (text) => {
    const url = new URL(text, location.origin);
    return url.pathname.replace(/(.)\/$/, "$1") + "?" + Array.from(url.searchParams).sort().join("&");
  };
  const upToDate = (root) => address(root.dataset.shown || "/-") === address(location.href);
  const hydrated = () => document.querySelector(".app")?.dataset.hydrated === "true";

  // Elements that agents may name, compared by value.
  function named(name) {
    for (const element of document.querySelectorAll("[data-agent-id]")) {
      if (element.dataset.agentId === name) return element;
    }
    return null;
  }

  // Shows the page; with `filters: "kept"`, one that is already there keeps what its address says of filters.
  async function goTo(name, args, { filters = "cleared" } = {}) {
    const page = own(PAGES, name, "page");
    const path = page.path(args);
    const there = () => plainPath() === path && (filters === "kept" || location.search === "");
    const shown = () => {
      const root = pageRoot();
      const same = root?.dataset.page === name && (!page.same || page.same(root, args));
      return there() && same && root.dataset.load !== "loading" && upToDate(root) && hydrated() ? root : null;
    };
    if (!there()) {
      const navigate = await until(() => window.hallaNavigate, "The app's start");
      navigate(path);
    }
    const root = await until(shown, `Showing ${path}`);
    if (root.dataset.load === "missing") fail("not_found", `${path} does not exist.`);
    if (root.dataset.load === "error") fail("page_failed", `${path} could not load its data.`);
    return root;
  }

  async function navigate(args) {
    window.hallaShell.makeRoom();
    const root = await goTo(args.page, args);
    const title = await until(() => root.querySelector("h1")?.textContent.trim(), "The page's heading");
    window.scrollTo({ top: 0 });
    return { shown: plainPath(), title };
  }

  let clearHighlight = () => {};

  async function highlight(args) {
    const name = args.element;
    if (typeof name !== "string") fail("invalid_arguments", "element must be a name.");
    // A page that is still reading its data may be about to show it.
    await until(() => pageRoot() && pageRoot().dataset.load !== "loading", "Reading the page's data");
    const element = named(name);
    if (!element) return { found: false, element: name };
    if (!element.closest(".panel")) window.hallaShell.makeRoom();
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    element.scrollIntoView({ block: "center", behavior: calm ? "auto" : "smooth" });
    clearHighlight();
    element.classList.add("agent-highlight");
    const timer = setTimeout(() => clearHighlight(), HIGHLIGHT_MS);
    clearHighlight = () => {
      clearTimeout(timer);
      element.classList.remove("agent-highlight");
      clearHighlight = () => {};
    };
    window.hallaShell.announce(describe(element));
    return { found: true, element: name };
  }

  function describe(element) {
    const korean = document.documentElement.lang === "ko";
    const label = element.getAttribute("aria-label");
    const heading = element.matches("tr, li") ? null : element.querySelector("h1, h2, h3");
    const words = (label ?? heading?.textContent ?? element.innerText).replace(/\s+/g, " ").trim().slice(0, 160);
    return (korean ? "어시스턴트가 표시함: " : "The assistant points at: ") + words;
  }

  // Sets a control as a person would, so that React and the app's state follow.
  function setValue(control, value) {
    const kind = { SELECT: HTMLSelectElement, TEXTAREA: HTMLTextAreaElement }[control.tagName] ?? HTMLInputElement;
    Object.getOwnPropertyDescriptor(kind.prototype, "value").set.call(control, value);
    control.dispatchEvent(new Event("input", { bubbles: true }));
    control.dispatchEvent(new Event("change", { bubbles: true }));
  }

  const control = (id) => until(() => document.getElementById(id), "The page's controls");
  const choices = (select) => Array.from(select.options, (option) => option.value);

  async function chooseStatus(ids, value) {
    const known = [];
    for (const id of ids) {
      const select = await control(id);
      if (choices(select).includes(value)) return { select, value };
      known.push(...choices(select).filter(Boolean));
    }
    return fail("invalid_arguments", `status ${JSON.stringify(value)} is not offered here; known are: ${known.join(", ")}.`);
  }

  async function setFilter(args) {
    const filters = own(FILTERS, args.page, "page");
    window.hallaShell.makeRoom();
    const root = await goTo(args.page, {}, { filters: "kept" });
    const applied = {};
    const expected = {};
    if (args.status !== undefined && args.status !== null) {
      const { select, value } = await chooseStatus(filters.status, String(args.status));
      const name = select.id.endsWith("-category") ? "category" : "status";
      if (root.dataset[name] !== value) setValue(select, value);
      expected[name] = value;
      applied.status = value;
      await until(() => settled(root, expected), "Applying the status");
    }
    if (args.query !== undefined && args.query !== null) {
      const value = String(args.query).trim();
      if (root.dataset.query !== value) setValue(await control(filters.query), value);
      expected.query = value;
      applied.query = value;
    }
    const page = await until(() => settled(root, expected), "Applying the filter");
    const rows = Number(page.dataset.total);
    window.hallaShell.announce(document.querySelector("[data-page] .count")?.textContent ?? String(rows));
    return { applied, rows };
  }

  // Whether the page shows what was asked: its state, its address, and its data read anew.
  function settled(root, expected) {
    const page = pageRoot();
    if (page?.dataset.page !== root.dataset.page) fail("page_left", "Another page was opened meanwhile.");
    const inAddress = new URLSearchParams(location.search);
    const names = { status: "status", category: "category", query: "q" };
    const there = Object.entries(expected).every(
      ([name, value]) => page.dataset[name] === value && (inAddress.get(names[name]) ?? "") === value,
    );
    return there && page.dataset.load === "ready" && upToDate(page) && hydrated() ? page : null;
  }

  async function fillForm(args) {
    const form = own(FORMS, args.form, "form");
    const given = Object.keys(form.fields).filter((name) => args[name] !== undefined && args[name] !== null);
    if (given.length === 0) fail("invalid_arguments", `Give at least one of: ${Object.keys(form.fields).join(", ")}.`);
    window.hallaShell.makeRoom();
    await goTo(form.page, {}, { filters: "kept" });
    for (const name of given) {
      const { id, mirror } = form.fields[name];
      const value = String(args[name]).replace(/\r\n?/g, "\n");
      const field = await control(id);
      if (field.tagName === "SELECT" && !choices(field).includes(value)) {
        fail("invalid_arguments", `${name} ${JSON.stringify(args[name])} is not offered in the form.`);
      }
      setValue(field, value);
      await until(() => pageRoot()?.dataset[mirror] === value && field.value === value, `Filling ${name}`);
    }
    return { filled: given };
  }

  const PAINT = ["fill", "stroke", "stroke-width", "font-family", "font-size", "font-weight", "opacity", "text-anchor"];

  // A copy that carries its computed look with it: an image has no access to the page's style sheets.
  function portable(svg) {
    const copy = svg.cloneNode(true);
    const originals = [svg, ...svg.querySelectorAll("*")];
    const copies = [copy, ...copy.querySelectorAll("*")];
    originals.forEach((element, index) => {
      const style = getComputedStyle(element);
      for (const name of PAINT) copies[index].style.setProperty(name, style.getPropertyValue(name));
      if (style.display === "none") copies[index].style.setProperty("display", "none");
    });
    const { width, height } = svg.viewBox.baseVal;
    copy.setAttribute("width", String(width));
    copy.setAttribute("height", String(height));
    return { copy, width, height };
  }

  async function captureChart(args) {
    const name = args.element ?? "revenue-chart";
    if (name !== "revenue-chart") fail("unknown_element", `There is no chart ${JSON.stringify(name)}; known is: revenue-chart.`);
    const card = named(name) ?? (await goTo("dashboard", {}), await until(() => named(name), "Showing the chart"));
    const svg = await until(() => card.querySelector("svg.chart"), "Drawing the chart");
    const { copy, width, height } = portable(svg);
    const source = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(new XMLSerializer().serializeToString(copy));
    const image = new Image();
    image.src = source;
    await image.decode();
    const canvas = Object.assign(document.createElement("canvas"), { width: width * IMAGE_SCALE, height: height * IMAGE_SCALE });
    const context = canvas.getContext("2d");
    context.fillStyle = getComputedStyle(card).backgroundColor;
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    const title = card.querySelector("h2")?.textContent.trim() ?? name;
    return {
      element: name,
      text: Array.from(card.querySelectorAll(".card-head h2, .card-head p"), (part) => part.textContent.trim()).join(". "),
      title,
      mimeType: "image/png",
      data: canvas.toDataURL("image/png").split(",")[1],
      width: canvas.width,
      height: canvas.height,
    };
  }

  const TOOLS = { navigate, highlight, set_filter: setFilter, fill_form: fillForm, capture_chart: captureChart };

  function parse(argumentsJson) {
    let args;
    try {
      args = JSON.parse(argumentsJson || "{}");
    } catch {
      fail("invalid_arguments", "The arguments are not valid JSON.");
    }
    if (args === null || typeof args !== "object" || Array.isArray(args)) {
      fail("invalid_arguments", "The arguments must be a JSON object.");
    }
    return args;
  }

  async function run(name, argumentsJson) {
    try {
      const tool = own(TOOLS, name, "tool");
      return JSON.stringify({ ok: true, result: await tool(parse(argumentsJson)) });
    } catch (error) {
      const code = error instanceof ToolFailure ? error.code : "tool_failed";
      return JSON.stringify({ ok: false, error: { code, message: String(error?.message ?? error) } });
    }
  }

  window.agentTools = Object.freeze({ run, names: Object.freeze(Object.keys(TOOLS)) });
})();
