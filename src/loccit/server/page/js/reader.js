/** Opens documents: asks for the text at once, while the modules that show it are still on their way. */

import { navigate, rewrite } from "./router.js";
import { problemState } from "./states.js";
import { el, replace } from "./text.js";

/**
 * @param {HTMLElement} container
 * @param {URLSearchParams} params
 * @param {import("./api.js").api} api
 */
export async function mount(container, params, api) {
  let turn = 0; // answers that come after another document was asked for are let go
  let leave = await open(container, params, api);
  return {
    unmount: () => {
      turn += 1;
      leave.stop();
    },
    place: () => leave.place(),
    update: async (next) => {
      if (leave.update(next)) return;
      leave.stop();
      replace(container);
      leave = { stop: () => {}, update: () => false, place: () => ({}) };
      const mine = ++turn;
      try {
        const opened = await open(container, next, api, () => mine === turn);
        if (opened) leave = opened;
      } catch (error) {
        if (mine === turn) replace(container, problemState(error, () => navigate(location.href)));
      }
    },
  };
}

async function open(container, params, api, wanted = () => true) {
  container.append(el("p", { class: "reader-wait soft", role: "status" }, "Opening …"));
  const [data, { Reader, ReaderDocument }] = await Promise.all([load(params, api), import("./reader-view.js")]);
  if (!wanted()) return null;
  const reading = new ReaderDocument(data);
  document.title = `${reading.title} · Loccit`;
  return new Reader(container, reading, new URLSearchParams(location.search), api);
}

/** The document of an address; one that was renamed is found by the id of its place, which stays. */
async function load(params, api) {
  const ask = (doc) => api.get("document", { doc, offsets: "utf16", without_terms: true });
  const place = params.get("place");
  try {
    if (params.get("doc") || !place) return await ask(params.get("doc"));
  } catch (error) {
    if (error.status !== 404 || !place) throw error;
  }
  const { doc } = await api.get("section", { ref: place });
  const data = await ask(doc);
  const url = new URL(location.href);
  url.searchParams.set("doc", doc);
  rewrite(url.href);
  return data;
}
