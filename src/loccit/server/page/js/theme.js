// Runs before the first paint, so that the chosen colours do not flash. A classic script: modules run too late.
(() => {
  try {
    const theme = localStorage.getItem("loccit-theme");
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  } catch {
    // Storage may be switched off; then the system's colours hold.
  }
})();
