// Completion and explanations: keys and kinds from the schema, names from the model.
"use strict";

class Completion {
  constructor(editor, words) {
    Object.assign(this, { editor, words, names: {}, found: [], at: 0 });
    this.list = $(".completions", editor.root); this.hint = $(".hint", editor.root);
    const area = editor.area;
    area.addEventListener("input", () => { this.close(); editor.later("offer", () => this.offer()); });
    area.addEventListener("keydown", (e) => this.key(e), true);
    area.addEventListener("blur", () => this.close());
    area.addEventListener("scroll", () => { this.place(); this.hint.hidden = true; });
    area.addEventListener("mousemove", (e) => this.explain(e));
    area.addEventListener("mouseleave", () => { this.hint.hidden = true; });
    this.list.addEventListener("mousedown", (e) => { const item = e.target.closest("li"); if (item) { e.preventDefault(); this.take(+item.dataset.k); } });
  }

  // what stands around a place: the table it is in, whether it is inside quotes or a header
  around(at) {
    const text = this.editor.text.slice(0, at), lines = text.split("\n"), line = lines.at(-1);
    let table = [];
    for (const l of lines) { const head = /^\s*\[\[?\s*([^\]]*?)\s*\]/.exec(l); if (head) table = head[1].split("."); }
    const plain = line.replace(/"(?:[^"\\]|\\.)*"|'[^']*'/g, ""), quoted = /["']/.test(plain), dotted = /^\s*([\w-]+)\.[\w-]*\s*=\s*\{[^}]*$/.exec(plain) ?? /^\s*(\w+)\s*=\s*\{[^}]*$/.exec(plain);
    return { table: dotted ? [dotted[1], ""] : table, quoted, header: /^\s*\[\[?[^\]]*$/.test(line), key: !quoted && /(?:^|[{,])\s*[\w.-]*$/.test(plain), comment: /#/.test(plain) };
  }

  keys(table) {
    const [kind, more] = table, known = this.words.kinds[kind];
    if (!kind) return { ...this.words.sections, ...Object.fromEntries(Object.entries(this.words.kinds).map(([name, k]) => [name, k.what])) };
    if (this.words.settings[kind] && more === undefined) return this.words.settings[kind];
    if (known && more !== undefined) return Object.fromEntries(known.keys.map((k) => [k.name, `${k.what}${k.required ? " (required)" : ""}`]));
    return kind === "run" || kind === "linear" || kind === "equilibrium" ? this.names : {};
  }

  candidates(around) {
    if (around.comment) return {};
    if (around.header) return { ...this.words.sections, ...Object.fromEntries(Object.entries(this.words.kinds).map(([name, k]) => [name, k.what])) };
    if (around.quoted) return { ...this.names, ...Object.fromEntries(this.words.functions.map((f) => [f, "function"])) };
    return around.key ? this.keys(around.table) : {};
  }

  offer() {
    const area = this.editor.area, at = area.selectionStart, word = /[A-Za-z_][\w]*$/.exec(this.editor.text.slice(0, at))?.[0] ?? "";
    if (!word || area.selectionEnd !== at || /\w/.test(this.editor.text[at] ?? "")) { this.close(); return; }
    const all = Object.entries(this.candidates(this.around(at)));
    this.found = all.filter(([name]) => name !== word && name.toLowerCase().startsWith(word.toLowerCase())).slice(0, 40);
    // what is complete already needs no help
    if (!this.found.length || all.some(([name]) => name === word)) { this.close(); return; }
    this.from = at - word.length; this.at = 0;
    this.list.replaceChildren(...this.found.map(([name, what], k) => {
      const item = document.createElement("li"), small = document.createElement("small");
      item.setAttribute("role", "option"); item.dataset.k = k; item.append(name, small); small.textContent = what;
      return item;
    }));
    this.list.hidden = false;
    this.place();
    this.select(0);
  }

  // under the word, and with it when the text scrolls
  place() {
    if (this.list.hidden) return;
    const [x, y] = this.editor.corner(...this.editor.where(this.from)), root = this.editor.root;
    this.list.style.left = `${Math.max(0, Math.min(x, root.clientWidth - this.list.offsetWidth))}px`;
    this.list.style.top = `${y + this.list.offsetHeight > root.clientHeight ? Math.max(0, y - ROW - this.list.offsetHeight) : y}px`;
  }

  select(k) {
    this.at = (k + this.found.length) % this.found.length;
    [...this.list.children].forEach((item, n) => item.setAttribute("aria-selected", n === this.at));
    this.list.children[this.at].scrollIntoView({ block: "nearest" });
  }

  close() { this.list.hidden = true; this.found = []; }

  key(e) {
    // a key that follows the last letter within a frame finds its completions
    if (e.key === "Tab") this.editor.flush();
    if (this.list.hidden) return;
    const act = { ArrowDown: () => this.select(this.at + 1), ArrowUp: () => this.select(this.at - 1), Tab: () => this.take(this.at), Escape: () => this.close() }[e.key];
    if (act) { e.preventDefault(); e.stopPropagation(); act(); }
    else if (e.key === "Enter") this.close();
  }

  take(k) {
    const [name] = this.found[k];
    this.close();
    this.editor.insert(name, this.from, this.editor.area.selectionEnd);
  }

  // ---- explanations ------------------------------------------------------------------------

  explain(e) {
    const [line, column, wide] = this.editor.under(e), text = this.editor.lines[line - 1] ?? "";
    const fault = this.editor.faults.find((f) => f.line === line && column >= f.column && column < f.column + Math.max(1, f.length));
    let hintText = fault?.sentence;
    if (!hintText && wide <= text.length + 2) {
      const word = [...text.matchAll(/[A-Za-z_]\w*/g)].find((m) => m.index < column && column <= m.index + m[0].length)?.[0];
      const offset = this.editor.lines.slice(0, line - 1).reduce((sum, l) => sum + l.length + 1, 0) + column;
      if (word) hintText = this.meaning(word, this.around(offset));
    }
    if (!hintText) { this.hint.hidden = true; return; }
    this.hint.textContent = hintText;
    this.hint.hidden = false;
    const [x, y] = this.editor.corner(line, column);
    this.hint.style.left = `${Math.max(0, Math.min(x, this.editor.root.clientWidth - this.hint.offsetWidth - 4))}px`;
    this.hint.style.top = `${y + this.hint.offsetHeight > this.editor.root.clientHeight ? y - ROW - this.hint.offsetHeight : y + 2}px`;
  }

  meaning(word, around) {
    const own = (table) => (table && Object.hasOwn(table, word) ? table[word] : undefined);
    const key = around.quoted ? undefined : own(this.keys(around.table)), kind = own(this.words.kinds)?.what, name = own(this.names);
    const what = around.quoted ? name : key ?? (around.header ? kind ?? own(this.words.sections) : undefined) ?? name ?? kind ?? own(this.words.sections);
    return what ? `${word}: ${what}` : "";
  }

  // ---- new elements ------------------------------------------------------------------------

  // an element with the keys it must have, its values from names that are there
  element(kind) {
    const k = this.words.kinds[kind], taken = new Set(Object.keys(this.names)), stem = kind.slice(0, 1);
    let number = 1;
    while (taken.has(`${stem}${number}`) || new RegExp(`\\b${stem}${number}\\b`).test(this.editor.text)) number++;
    const last = (what) => Object.entries(this.names).filter(([, x]) => x === what).at(-1)?.[0];
    const value = (key) => ({ point: last("point") ?? "O", frame: last("frame") ?? "N", body: last("body") ?? "", vector: "N.x", flag: "true", scalar: "1", number: "1" }[key.type] ?? "");
    const wanted = k.keys.filter((key) => key.required || key.name === k.main);
    const lines = wanted.map((key) => (key.type === "flag" || /^-?\d/.test(value(key)) ? `${key.name} = ${value(key)}` : `${key.name} = "${value(key)}"`));
    return `[${kind}.${stem}${number}]\n${lines.join("\n")}${lines.length ? "\n" : ""}`;
  }

  // before the next table after the caret: an element is put between two others
  add(kind) {
    const text = this.editor.text, at = this.editor.area.selectionStart, next = text.slice(at).search(/^\s*\[/m);
    const place = next < 0 ? text.length : at + next, before = text.slice(0, place), gap = !before || before.endsWith("\n\n") ? "" : before.endsWith("\n") ? "\n" : "\n\n";
    this.editor.insert(`${gap}${this.element(kind)}${next < 0 ? "" : "\n"}`, place, place);
  }
}
