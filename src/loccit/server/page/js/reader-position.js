/** Where the reading is: knows it while the page scrolls, and goes to a place. */

import { keepAlso, scrollOf } from "./router.js";

const STILL = 60; // pixels that a page may move by itself while the rest of it is drawn

export class Position {
  /**
   * @param {import("./reader-body.js").Body} body
   * @param {(offset: number) => void} moved
   */
  constructor(body, moved) {
    this.body = body;
    this.moved = moved;
    this.offset = 0;
    this.life = new AbortController();
    this.frame = 0;
    this.going = 0;
    /** Where a link led, and where the page was scrolled to then: the end of a text never comes to the top. */
    this.led = { offset: 0, scroll: -1 };
    /** Laid out wherever the screen is. @type {import("./reader-body.js").Slab[]} */
    this.near = [];
  }

  start() {
    const options = { passive: true, signal: this.life.signal };
    const look = () => {
      if (!this.frame) this.frame = requestAnimationFrame(() => this.look());
    };
    window.addEventListener("scroll", look, options);
    window.addEventListener("resize", look, options);
    // Whoever scrolls is not pulled back to where a link wanted to go.
    for (const event of ["wheel", "touchstart", "keydown", "pointerdown"]) window.addEventListener(event, () => cancelAnimationFrame(this.going), options);
    look();
    const release = keepAlso(() => ({ at: this.here() }));
    this.life.signal.addEventListener("abort", release);
  }

  /** The offset at which this entry of the history was left, or null: heights may be others now. */
  get kept() {
    const at = history.state?.at;
    return scrollOf() && Number.isInteger(at) ? at : null;
  }

  /** The height below the bars at the top, where reading begins. */
  top() {
    const bar = this.body.element.closest(".reader-main")?.querySelector(".reader-bar");
    // On a narrow screen the picture of a page stands above the text.
    const over = [bar, innerWidth < 900 && this.body.element.closest(".reader")?.querySelector(".pages")];
    return Math.max(0, ...over.map((one) => (one ? one.getBoundingClientRect().bottom : 0))) + 16;
  }

  here() {
    return this.body.offsetAt(this.top() + 24);
  }

  look() {
    this.frame = 0;
    this.offset = Math.abs(window.scrollY - this.led.scroll) < STILL ? this.led.offset : this.here();
    // What comes into view before its turn is shown at once.
    const here = this.body.slabAt(this.offset);
    for (let k = here; k <= here + 2; k += 1) this.body.fill(k);
    this.moved(this.offset);
  }

  /**
   * Go to an offset. Heights near it are only known once they are laid out, so the place is corrected until it stays.
   * @param {number} offset
   * @param {HTMLElement | null} [anchor] an element inside the paragraph
   * @param {number} [room] how much of the screen stays free above it
   * @param {number} [meant] what is meant to be read, where it stands below that
   */
  go(offset, anchor = null, room = 0, meant = offset) {
    cancelAnimationFrame(this.going);
    for (const slab of this.near) slab.element.style.contentVisibility = "";
    const k = this.body.slabAt(offset);
    for (let n = -1; n <= 1; n += 1) this.body.fill(k + n);
    // What lies below the estimated height of a slab would never come into view, and so never be laid out.
    this.near = this.body.slabs.slice(Math.max(0, k - 1), k + 2);
    for (const slab of this.near) slab.element.style.contentVisibility = "visible";
    let element = anchor || this.body.elementAt(offset);
    if (!element) return;
    let still = 0;
    let left = 30;
    const step = () => {
      // Drawn anew meanwhile, in the same place.
      if (!element.isConnected) element = this.body.innerAt(offset);
      const by = element.getBoundingClientRect().top - this.top() - room * innerHeight;
      const before = window.scrollY;
      if (Math.abs(by) > 1) window.scrollBy({ top: by, behavior: "instant" });
      this.led = { offset: meant, scroll: window.scrollY };
      still = Math.abs(window.scrollY - before) < 1 ? still + 1 : 0;
      left -= 1;
      if (still < 3 && left) this.going = requestAnimationFrame(step);
    };
    step();
  }

  stop() {
    this.life.abort();
    cancelAnimationFrame(this.frame);
    cancelAnimationFrame(this.going);
  }
}
