// The editor: a text area whose letters are transparent, over the same text in colours; marks stand at lines and columns.
"use strict";

const ROW = 20, EDGE = 8;

class Editor {
  constructor(root, changed) {
    Object.assign(this, { root, changed, faults: [], names: {}, lines: [], tasks: new Map(), left: 0, top: 0 });
    this.area = $("textarea", root); this.colours = $(".colours", root); this.marks = $(".marks", root); this.gutter = $(".gutter", root);
    this.area.addEventListener("input", () => { this.lines = this.text.split("\n"); this.later("paint", () => this.paint()); this.changed(this.area.value); });
    this.area.addEventListener("scroll", () => this.scrolled());
    this.area.addEventListener("keydown", (e) => this.key(e));
    this.width = this.measure();
  }

  get text() { return this.area.value; }

  // another text: what was typed before cannot be undone into it
  set text(text) { this.area.value = text; this.faults = []; this.area.setSelectionRange(0, 0); this.area.scrollTop = this.top = 0; this.paint(); }

  // once before the next frame, however many keys were pressed since the last one
  later(name, act) {
    if (!this.tasks.size) requestAnimationFrame(() => this.flush());
    this.tasks.set(name, act);
  }

  flush() { const acts = [...this.tasks.values()]; this.tasks.clear(); for (const each of acts) each(); }

  measure() {
    const probe = document.createElement("span");
    probe.textContent = "0".repeat(100);
    this.colours.append(probe);
    const width = probe.getBoundingClientRect().width / 100;
    probe.remove();
    return width || 8;
  }

  // as if it were typed, so that it can be undone
  insert(text, from = this.area.selectionStart, to = this.area.selectionEnd) {
    this.area.focus();
    this.area.setSelectionRange(from, to);
    if (!document.execCommand("insertText", false, text)) { this.area.setRangeText(text, from, to, "end"); this.area.dispatchEvent(new Event("input")); }
  }

  key(e) {
    if (e.defaultPrevented) return;
    if (e.key === "Tab" && !e.shiftKey && !e.ctrlKey && !e.altKey && this.area.selectionStart !== this.area.selectionEnd) return;
    if (e.key === "Enter") {
      const before = this.text.slice(0, this.area.selectionStart), indent = /(?:^|\n)([ \t]*)[^\n]*$/.exec(before)[1];
      if (indent) { e.preventDefault(); this.insert(`\n${indent}`); }
    }
  }

  // the scroll position is kept: to ask for it lays the page out
  scrolled() { this.left = this.area.scrollLeft; this.top = this.area.scrollTop; this.shift(); }

  shift() {
    const { left: x, top: y } = this;
    this.colours.firstElementChild?.style.setProperty("transform", `translate(${-x}px, ${-y}px)`);
    this.gutter.firstElementChild?.style.setProperty("transform", `translateY(${-y}px)`);
    this.marks.style.transform = `translate(${-x}px, ${-y}px)`;
  }

  // ---- colours -----------------------------------------------------------------------------

  paint() {
    const text = this.text;
    this.lines = text.split("\n");
    const inside = document.createElement("div");
    // very long texts are shown without colours
    if (text.length > 200000) inside.textContent = text;
    else for (const [kind, piece] of Editor.tokens(text)) {
      if (!kind) { inside.append(piece); continue; }
      const span = document.createElement("span");
      span.className = `tok-${kind}`; span.textContent = piece;
      inside.append(span);
    }
    this.colours.replaceChildren(inside);
    this.mark();
  }

  // [kind, text] one after another: comments, headers, keys, strings, numbers
  static *tokens(text) {
    const next = /("""[\s\S]*?(?:"""|$)|'''[\s\S]*?(?:'''|$)|"(?:[^"\\\n]|\\.)*"?|'[^'\n]*'?)|(#[^\n]*)|(^[ \t]*\[\[?[^\]\n]*\]?\]?)|([A-Za-z_][\w.'-]*(?=\s*=))|([+-]?\d[\d_.]*(?:[eE][+-]?\d+)?|\b(?:true|false)\b)/gm;
    let at = 0;
    for (const found of text.matchAll(next)) {
      if (found.index > at) yield ["", text.slice(at, found.index)];
      const kind = ["string", "comment", "header", "key", "number"].find((_, k) => found[k + 1] !== undefined);
      yield [kind, found[0]];
      at = found.index + found[0].length;
    }
    if (at < text.length) yield ["", text.slice(at)];
  }

  // ---- marks -------------------------------------------------------------------------------

  show(faults) { this.faults = faults; this.mark(); }

  // tabs are as wide as four letters
  column(line, column) { let at = 0; for (const c of (this.lines[line - 1] ?? "").slice(0, column - 1)) at += c === "\t" ? 4 - at % 4 : 1; return at; }

  mark() {
    const marks = [];
    this.number(new Set(this.faults.map((f) => f.line)));
    for (const f of this.faults) if (f.line && f.line <= this.lines.length) {
      const i = document.createElement("i"), from = this.column(f.line, f.column), to = this.column(f.line, f.column + f.length);
      Object.assign(i.style, { left: `${from * this.width}px`, top: `${(f.line - 1) * ROW}px`, width: `${Math.max(1, to - from) * this.width}px` });
      marks.push(i);
    }
    if (this.chosen) {
      const i = document.createElement("i"), [first, last] = this.chosen;
      i.className = "line";
      Object.assign(i.style, { left: "-8px", top: `${(first - 1) * ROW}px`, width: "200vw", height: `${(last - first + 1) * ROW}px` });
      marks.push(i);
    }
    if (marks.length || this.marks.firstChild) this.marks.replaceChildren(...marks);
    this.shift();
  }

  // line numbers; those with a fault are bold
  number(bad) {
    const state = `${this.lines.length} ${[...bad]}`;
    if (state === this.numbered) return;
    this.numbered = state;
    const numbers = document.createElement("div");
    this.lines.forEach((_, k) => { const n = document.createElement("span"); n.textContent = k + 1; if (bad.has(k + 1)) n.className = "bad"; numbers.append(n); });
    this.gutter.replaceChildren(numbers);
  }

  // mark lines and bring them into sight
  choose(first, last) {
    if (!first && !this.chosen) return;
    this.chosen = first ? [first, last] : null;
    if (first) {
      const top = (first - 1) * ROW, high = this.area.clientHeight;
      if (top < this.area.scrollTop || top + ROW > this.area.scrollTop + high) this.area.scrollTop = Math.max(0, top - high / 3);
    }
    this.mark();
  }

  go(line, column) {
    const at = this.lines.slice(0, line - 1).reduce((sum, l) => sum + l.length + 1, 0) + Math.max(0, column - 1);
    this.area.focus();
    this.area.setSelectionRange(at, at);
    this.area.scrollTop = Math.max(0, (line - 1) * ROW - this.area.clientHeight / 3);
  }

  // line and column (from 1) of a place in the text, and of a pointer
  where(at) { const before = this.text.slice(0, at), line = before.split("\n").length; return [line, at - before.lastIndexOf("\n")]; }

  under(e) {
    const box = this.area.getBoundingClientRect(), line = Math.floor((e.clientY - box.top - EDGE + this.area.scrollTop) / ROW) + 1, wide = Math.floor((e.clientX - box.left - EDGE + this.area.scrollLeft) / this.width);
    let column = 1;
    while (column <= (this.lines[line - 1] ?? "").length && this.column(line, column + 1) <= wide) column++;
    return [line, column, wide];
  }

  // where a place of the text is, in the editor's own frame
  corner(line, column) {
    const sheet = $(".sheet", this.root);
    return [sheet.offsetLeft + EDGE + this.column(line, column) * this.width - this.area.scrollLeft, EDGE + line * ROW - this.area.scrollTop];
  }
}
