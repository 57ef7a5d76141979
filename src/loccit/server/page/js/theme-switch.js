/** The switch between the system's colours, light and dark. */

import { announce, replace, svg } from "./text.js";

const ORDER = ["auto", "light", "dark"];
const NAMES = { auto: "same as the system", light: "light", dark: "dark" };
const SHAPES = {
  auto: ["M8 1.5a6.5 6.5 0 1 0 0 13z", "M8 1.5a6.5 6.5 0 0 1 0 13"],
  light: ["M8 4.8a3.2 3.2 0 1 0 0 6.4 3.2 3.2 0 0 0 0-6.4z", "M8 .8v1.6M8 13.6v1.6M.8 8h1.6M13.6 8h1.6M2.9 2.9 4 4M12 12l1.1 1.1M13.1 2.9 12 4M4 12l-1.1 1.1"],
  dark: ["M13.8 9.8A6.2 6.2 0 0 1 6.2 2.2a6.2 6.2 0 1 0 7.6 7.6z"],
};

/** Let a button go through the three. */
export function installTheme(button) {
  const stored = () => document.documentElement.dataset.theme || "auto";
  const draw = () => {
    const theme = stored();
    const text = `Colours: ${NAMES[theme]}`;
    button.setAttribute("aria-label", text);
    button.title = text;
    const [filled, ...lines] = SHAPES[theme];
    replace(
      button,
      svg("svg", { viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true" },
        svg("path", { d: filled, fill: "currentColor" }),
        lines.map((d) => svg("path", { d, fill: "none", stroke: "currentColor", "stroke-width": 1.3, "stroke-linecap": "round" })),
      ),
    );
  };
  button.addEventListener("click", () => {
    const next = ORDER[(ORDER.indexOf(stored()) + 1) % ORDER.length];
    if (next === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = next;
    try {
      if (next === "auto") localStorage.removeItem("loccit-theme");
      else localStorage.setItem("loccit-theme", next);
    } catch {
      // Without storage the choice holds until the page is closed.
    }
    draw();
    announce(`Colours: ${NAMES[next]}`);
  });
  draw();
}
