/** Whether keys of a single letter do something; kept on this machine. */

const NAME = "loccit-letters";
let on = true;
try {
  on = localStorage.getItem(NAME) !== "off";
} catch {
  // Without storage the choice holds until the page is closed.
}

/** Whether they work. */
export const lettersOn = () => on;

/** Switch them on or off. @param {boolean} wanted */
export function setLetters(wanted) {
  on = wanted;
  try {
    if (wanted) localStorage.removeItem(NAME);
    else localStorage.setItem(NAME, "off");
  } catch {
    // As above.
  }
}
