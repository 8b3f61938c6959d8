// Problems of CUDA C++ while it is written, with quick fixes, and the meaning of the name under the mouse.

import { cppLanguage } from '@codemirror/lang-cpp';
import { highlightingFor } from '@codemirror/language';
import { forEachDiagnostic, linter, setDiagnosticsEffect } from '@codemirror/lint';
import { StateEffect } from '@codemirror/state';
import { EditorView, hoverTooltip, ViewPlugin } from '@codemirror/view';
import { highlightCode } from '@lezer/highlight';

import { isPython, mayHoldCuda } from './texts';

// Milliseconds without a key after which a cell is checked.
const DELAY = 150;

// The effect of a transaction that asks for a check though the text is the same.
const recheck = StateEffect.define();

const theme = EditorView.theme({
  '.cm-tooltip.cm-tooltip-lint, .cm-tooltip.cm-tooltip-hover, .cm-tooltip.cm-cuda-hover': {
    backgroundColor: 'var(--jp-layout-color1)',
    color: 'var(--jp-ui-font-color1)',
    border: '1px solid var(--jp-border-color1)',
    borderRadius: 'var(--jp-border-radius)',
    boxShadow: 'var(--jp-elevation-z4)',
    fontFamily: 'var(--jp-ui-font-family)',
    fontSize: 'var(--jp-ui-font-size1)'
  },
  '.cm-diagnostic': { padding: '6px 10px' },
  '.cm-diagnostic-error': { borderLeftColor: 'var(--jp-error-color1)' },
  '.cm-diagnostic-warning': { borderLeftColor: 'var(--jp-warn-color1)' },
  '.cm-cuda-code': { color: 'var(--jp-ui-font-color2)', marginLeft: '8px', fontFamily: 'var(--jp-code-font-family)' },
  '.cm-cuda-help': { color: 'var(--jp-ui-font-color2)', marginTop: '2px' },
  '.cm-diagnosticAction': {
    backgroundColor: 'var(--jp-brand-color1)',
    color: 'var(--jp-ui-inverse-font-color0, white)',
    borderRadius: 'var(--jp-border-radius)',
    padding: '1px 8px'
  },
  '.cm-cuda-hover': { padding: '6px 10px', maxWidth: '640px' },
  '.cm-cuda-hover pre': {
    margin: 0,
    fontFamily: 'var(--jp-code-font-family)',
    fontSize: 'var(--jp-code-font-size)',
    whiteSpace: 'pre-wrap'
  },
  '.cm-cuda-hover p': { margin: '4px 0 0', whiteSpace: 'pre-wrap' }
});

// A sentence with the words between backquotes in the font of code.
function sentence(text, className) {
  const line = document.createElement('div');
  line.className = className;
  text.split('`').forEach((part, index) => {
    const piece = document.createElement(index % 2 === 1 ? 'code' : 'span');
    piece.textContent = part;
    line.append(piece);
  });
  return line;
}

function diagnostic(problem, length) {
  const { replacement } = problem;
  const from = Math.min(problem.from, length);
  return {
    from,
    to: Math.min(Math.max(problem.to, from), length),
    severity: problem.severity,
    message: problem.message,
    renderMessage: () => {
      const shown = document.createElement('div');
      const head = sentence(problem.message, 'cm-cuda-message');
      const code = document.createElement('span');
      code.className = 'cm-cuda-code';
      code.textContent = problem.code;
      head.append(code);
      shown.append(head);
      // A remedy that the button below says needs no words.
      if (problem.help && !(replacement?.text && problem.help.includes(`\`${replacement.text}\``))) {
        shown.append(sentence(problem.help, 'cm-cuda-help'));
      }
      return shown;
    },
    actions: replacement ? [{ name: fix(replacement), apply: (view, start) => mend(view, replacement, start - from) }] : []
  };
}

// Makes a change that was meant for a text to which `moved` characters have been added in front of it since.
function mend(view, { from, to, text }, moved) {
  const start = from + moved;
  const end = to + moved;
  if (start >= 0 && end <= view.state.doc.length) {
    view.dispatch({ changes: { from: start, to: end, insert: text } });
  }
}

function fix({ from, to, text }) {
  return from === to ? `Insert ${text}` : `Write ${text}`;
}

// A signature in the theme's colours.
function coloured(state, code) {
  const shown = document.createElement('pre');
  const highlighter = { style: tags => highlightingFor(state, tags) };
  const put = (text, classes) => {
    const piece = document.createElement('span');
    piece.textContent = text;
    if (classes) {
      piece.className = classes;
    }
    shown.append(piece);
  };
  highlightCode(code, cppLanguage.parser.parse(code), highlighter, put, () => shown.append('\n'));
  return shown;
}

function explained(state, markdown) {
  const shown = document.createElement('div');
  shown.className = 'cm-cuda-hover';
  const [, code, rest] = /^(?:```cpp\n([\s\S]*?)\n```\n\n)?([\s\S]*)$/.exec(markdown);
  if (code) {
    shown.append(coloured(state, code));
  }
  for (const paragraph of rest.split('\n\n').filter(Boolean)) {
    const line = document.createElement('p');
    line.append(...sentence(paragraph, '').childNodes);
    shown.append(line);
  }
  return shown;
}

// A problem as a word, by its place and its sentence.
function key({ from, to, message }) {
  return JSON.stringify([from, to, message]);
}

// The problems that are drawn, at their places of now, which typing moves. What is shown knows its problem by the object, so that one which
// has not moved is itself.
function drawn(state) {
  const all = [];
  forEachDiagnostic(state, (one, from, to) => all.push(one.from === from && one.to === to ? one : { ...one, from, to }));
  return all;
}

// A problem that is shown stays when a check finds the same ones again, in the same text; otherwise CodeMirror decides.
function hideOn(transaction) {
  const checked = transaction.effects.find(effect => effect.is(setDiagnosticsEffect));
  if (!checked || transaction.docChanged) {
    return null;
  }
  const before = new Set(drawn(transaction.startState).map(key));
  return checked.value.length === before.size && checked.value.every(one => before.has(key(one))) ? false : null;
}

function needsRefresh(update) {
  return update.transactions.some(({ effects }) => effects.some(effect => effect.is(recheck)));
}

// The extension of one editor, whose cell is `model`.
export function checking(kernels, model) {
  const holdsCuda = text => isPython(model.mimeType) && mayHoldCuda(text);
  // Marks that were drawn stay while the kernel has no answer: CodeMirror moves them along with the text.
  const check = async view => {
    const cell = view.state.doc.toString();
    if (!holdsCuda(cell)) {
      return [];
    }
    const answer = await kernels.ask(model, 'problems', { request: 'problems', cell });
    const before = drawn(view.state);
    if (answer === null) {
      return before;
    }
    const found = answer.problems.map(problem => diagnostic(problem, cell.length));
    return found.map(one => before.find(known => key(known) === key(one)) ?? one);
  };
  const explain = async (view, pos) => {
    const cell = view.state.doc.toString();
    const word = view.state.wordAt(pos);
    if (word === null || !holdsCuda(cell)) {
      return null;
    }
    const answer = await kernels.ask(model, 'hover', { request: 'hover', cell, offset: pos });
    if (!answer?.hover) {
      return null;
    }
    return { pos: word.from, end: word.to, above: true, create: () => ({ dom: explained(view.state, answer.hover) }) };
  };
  return [linter(check, { delay: DELAY, hideOn, needsRefresh }), hoverTooltip(explain, { hoverTime: 400 }), again(kernels, model, holdsCuda), theme];
}

// Checks a cell again where its kernel may know more: it has run a cell, which may have loaded Workbench, or it is another kernel.
function again(kernels, model, holdsCuda) {
  return ViewPlugin.fromClass(
    class {
      constructor(view) {
        this.view = view;
        this.kernel = null;
        this.hasRun = false;
        this.heard = (_, { header, content }) => {
          // Questions make a kernel busy, too; a cell alone has an input.
          if (header.msg_type === 'execute_input') {
            this.hasRun = true;
          } else if (this.hasRun && header.msg_type === 'status' && content.execution_state === 'idle') {
            this.hasRun = false;
            this.check();
          }
        };
        this.timer = setInterval(() => this.connect(), 2000);
        queueMicrotask(() => this.connect());
      }

      check() {
        if (holdsCuda(this.view.state.doc.toString())) {
          this.view.dispatch({ effects: recheck.of(null) });
        }
      }

      connect() {
        const kernel = kernels.kernel(model);
        if (kernel !== this.kernel) {
          this.kernel?.iopubMessage.disconnect(this.heard);
          kernel?.iopubMessage.connect(this.heard);
          this.kernel = kernel;
          this.check();
        }
      }

      destroy() {
        clearInterval(this.timer);
        this.kernel?.iopubMessage.disconnect(this.heard);
      }
    }
  );
}
