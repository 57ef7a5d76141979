/** Dialogs: the frame of all of them, help, and the question for the token. */

import { Problem } from "./api.js";
import { lettersOn, setLetters } from "./letters.js";
import { el } from "./text.js";

/**
 * Show a modal dialog; it goes away by Escape, its close button or a click beside it, and the focus returns.
 * @param {string} title
 * @param {(Node | string)[]} content
 * @param {{onClose?: () => void, class?: string}} [options]
 * @returns {HTMLDialogElement}
 */
export function openDialog(title, content, options = {}) {
  const before = document.activeElement;
  const heading = el("h2", { id: "dialog-title", text: title });
  const close = el("button", { class: "quiet icon", "aria-label": "Close", text: "×" });
  const dialog = /** @type {HTMLDialogElement} */ (
    el("dialog", { "aria-labelledby": "dialog-title", class: options.class }, el("header", {}, heading, close), ...content)
  );
  close.addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  dialog.addEventListener("close", () => {
    dialog.remove();
    options.onClose?.();
    if (before instanceof HTMLElement && before.isConnected) before.focus();
  });
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

const KEYS = {
  "Everywhere": [
    ["/", "go to the search box"],
    ["g then s, m, o", "go to the search, the map, the overview"],
    ["?", "this help"],
    ["Esc", "close; in the search: back to the box"],
  ],
  "Search": [
    ["↓ ↑", "in the box: through the suggestions"],
    ["Enter", "in the box: go to the first result; on a result: open it"],
    ["j k or ↓ ↑", "next and previous result"],
    ["w", "why this result"],
    ["c", "cite it"],
    ["x", "the whole passage, or the short one"],
  ],
  "Reader": [
    ["n p", "next and previous section"],
    ["m, M", "next and previous match"],
    ["o", "the outline; there: arrows, Home, End or letters"],
    ["c", "cite the section"],
  ],
  "Map": [
    ["← ↑ → ↓", "go to the next document that way"],
    ["Enter", "the sections of the document"],
    ["Shift and arrows", "pan"],
    ["+ − 0", "zoom in, zoom out, fit"],
  ],
};
const HINTS = [
  ['"left to dry"', "an exact phrase"],
  ["Article 6(1)(f)", "a section or clause by its label"],
  ["valve -pump", "exclude a word"],
  ["type:pdf after:2024", "filters in the query"],
];

/** What the keys do, and how to ask. */
export function helpDialog() {
  if (document.querySelector("dialog[open]")) return;
  const list = (title, rows, tag) => [
    el("h3", { class: "label", text: title }),
    el("dl", { class: "pairs" }, rows.map(([name, text]) => [el("dt", {}, el(tag, { text: name })), el("dd", { text })])),
  ];
  const letters = el("input", { type: "checkbox", checked: lettersOn(), on: { change: (event) => setLetters(event.target.checked) } });
  openDialog("Help", [
    ...list("Asking", HINTS, "code"),
    ...Object.entries(KEYS).flatMap(([title, rows]) => list(title, rows, "kbd")),
    // Who speaks to the computer, or hits keys by chance, must be able to switch them off (WCAG 2.1.4).
    el("label", { class: "tick letters" }, letters, el("span", { text: "Enable single-key shortcuts" })),
  ]);
}

/** @type {Promise<string> | null} */
let asking = null;
/** Whether somebody closed the question without an answer, and has done nothing since that would ask it again. */
let refused = false;
for (const act of ["pointerdown", "keydown"]) document.addEventListener(act, () => (refused = false), true);

const noToken = () => new Problem(401, "No token", "The server does not answer without its token.");

/** Ask for the token; several requests that need it wait for the same answer. Refused when the dialog is closed. */
export function tokenDialog(wrong = false) {
  if (!asking && refused) return Promise.reject(noToken());
  asking ??= new Promise((resolve, reject) => {
    const field = /** @type {HTMLInputElement} */ (
      el("input", { id: "token", type: "password", autocomplete: "off", required: true, spellcheck: "false", class: "field" })
    );
    let given = "";
    const form = el(
      "form",
      {
        method: "dialog",
        class: "token",
        on: {
          submit: (event) => {
            event.preventDefault();
            given = field.value.trim();
            if (given) dialog.close();
          },
        },
      },
      el("p", { class: "soft" }, "Enter the token that this server was started with. It is kept only in this tab."),
      wrong && el("p", { class: "bad", role: "alert", text: "Wrong token." }),
      el("label", { for: "token", class: "label", text: "Token" }),
      field,
      el("button", { type: "submit", class: "button primary", text: "Continue" }),
    );
    const dialog = openDialog("Token required", [form], {
      onClose: () => {
        asking = null;
        if (given) resolve(given);
        else {
          refused = true;
          reject(noToken());
        }
      },
    });
    field.focus();
  });
  return asking;
}
