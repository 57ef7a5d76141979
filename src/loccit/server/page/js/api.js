/**
 * The server's API: adds the token and the chosen library to every request, and turns problems into errors with plain
 * words. Every call takes `{ signal }` to be given up.
 */

const TOKEN = "loccit-token";
// What is asked of the server as a whole, not of a library.
const WHOLE = ["status", "index"];

/** What went wrong, in words that can be shown. `status` is 0 when the server was not reached. */
export class Problem extends Error {
  /** @param {number} status @param {string} title @param {string} [detail] @param {number} [retryAfter] seconds */
  constructor(status, title, detail = "", retryAfter = 0) {
    super(detail || title);
    this.name = "Problem";
    this.status = status;
    this.title = title;
    this.detail = detail;
    this.retryAfter = retryAfter;
  }
}

/** Whether an error only says that a request was given up. */
export function isAbort(error) {
  return error instanceof DOMException && error.name === "AbortError";
}

class Api {
  constructor() {
    /** The library that is asked, when there are several; empty for the first. */
    this.library = "";
    /** Asks the person for the token, and says whether one was wrong; set by the shell.
     * @type {((wrong: boolean) => Promise<string>) | null} */
    this.askToken = null;
  }

  /** The token that was given in this tab. */
  get token() {
    return sessionStorage.getItem(TOKEN) || "";
  }

  set token(token) {
    if (token) sessionStorage.setItem(TOKEN, token);
    else sessionStorage.removeItem(TOKEN);
  }

  /** The address of something below `/api`, such as "search"; empty parameters are left out. */
  url(path, params = {}) {
    const query = new URLSearchParams();
    const all = this.library && !WHOLE.includes(path) ? { ...params, library: this.library } : params;
    for (const [name, value] of Object.entries(all)) {
      if (value === null || value === undefined || value === "" || value === false) continue;
      query.set(name, typeof value === "object" ? JSON.stringify(value) : value === true ? "1" : String(value));
    }
    const text = query.toString();
    return `/api/${path}${text ? `?${text}` : ""}`;
  }

  /** GET JSON. */
  async get(path, params = {}, options = {}) {
    const response = await this.request(this.url(path, params), { ...options, headers: { Accept: "application/json" } });
    return response.json();
  }

  /** GET a file as a blob. */
  async blob(path, params = {}, options = {}) {
    return (await this.request(this.url(path, params), options)).blob();
  }

  /** GET a picture as a `data:` address: the policy of the page allows no `blob:`, and `<img>` sends no token. */
  async dataUrl(path, params = {}, options = {}) {
    const blob = await this.blob(path, params, options);
    return new Promise((resolve, reject) => {
      const reader = new FileReader();
      reader.onload = () => resolve(reader.result);
      reader.onerror = () => reject(new Problem(0, "The picture could not be read"));
      reader.readAsDataURL(blob);
    });
  }

  /**
   * POST, and hand on server-sent events as they come.
   * @param {(event: string, data: any) => void} handle
   */
  async events(path, body, handle, options = {}) {
    const response = await this.request(this.url(path), { ...options, ...json(body) });
    if (!response.body) return;
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { value, done } = await reader.read();
      rest = (rest + (value || "")).replaceAll("\r\n", "\n");
      const blocks = rest.split("\n\n");
      rest = blocks.pop() || "";
      for (const block of blocks) dispatch(block, handle);
      if (done) break;
    }
    dispatch(rest, handle);
  }

  /** Fetch with the token; asks for it when the server does, and throws `Problem` for everything but success. */
  async request(url, init = {}) {
    for (let again = false; ; again = true) {
      const response = await this.send(url, init);
      if (response.ok) return response;
      if (response.status !== 401 || !this.askToken) throw await problem(response);
      // Another request may have asked meanwhile: then its token is tried first.
      if (again || response.sentToken === this.token) {
        this.token = "";
        this.token = await this.askToken(Boolean(response.sentToken));
      }
    }
  }

  async send(url, init) {
    const token = this.token;
    const headers = new Headers(init.headers);
    if (token) headers.set("Authorization", `Bearer ${token}`);
    try {
      const response = await fetch(url, { ...init, headers });
      return Object.assign(response, { sentToken: token });
    } catch (error) {
      if (isAbort(error)) throw error;
      throw new Problem(0, "The server cannot be reached", "The server cannot be reached. Is loccit serve running?");
    }
  }
}

function json(body) {
  return { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body ?? {}) };
}

async function problem(response) {
  let body = {};
  try {
    body = await response.json();
  } catch {
    // Not JSON: the status alone has to say it.
  }
  const title = body.title || `The server answered ${response.status}`;
  return new Problem(response.status, title, body.detail || body.error || "", Number(response.headers.get("Retry-After")) || 0);
}

function dispatch(block, handle) {
  let event = "message";
  const data = [];
  for (const line of block.split("\n")) {
    if (line.startsWith("event:")) event = line.slice(6).trim();
    else if (line.startsWith("data:")) data.push(line.slice(5).replace(/^ /, ""));
  }
  if (data.length) handle(event, JSON.parse(data.join("\n")));
}

export const api = new Api();
