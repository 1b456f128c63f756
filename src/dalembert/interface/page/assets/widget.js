// A run in a notebook: its document in a frame of its own, as high as what it holds, light or dark
// as the notebook is. No kernel is needed.
function render({ model, el }) {
  const frame = document.createElement("iframe");
  frame.title = model.get("title");
  frame.srcdoc = model.get("html");
  Object.assign(frame.style, { width: "100%", height: "58rem", border: "0", display: "block", background: "#fff" });
  let watch = null;
  frame.addEventListener("load", () => {
    const inside = frame.contentDocument;
    // a frame that may not be looked into keeps its height
    if (!inside) return;
    const dark = document.body.dataset.jpThemeLight === "false" || document.body.classList.contains("vscode-dark");
    if (dark) { inside.documentElement.dataset.theme = "dark"; frame.style.background = "none"; }
    watch = new ResizeObserver(() => { frame.style.height = `${inside.body.scrollHeight + 8}px`; });
    watch.observe(inside.body);
  });
  el.append(frame);
  return () => { watch?.disconnect(); frame.remove(); };
}

export default { render };
