// Problems of CUDA C++ while it is written, with quick fixes, and the meaning of the name under the mouse.

import { cppLanguage } from '@codemirror/lang-cpp';
import { highlightingFor } from '@codemirror/language';
import { linter } from '@codemirror/lint';
import { EditorView, hoverTooltip } from '@codemirror/view';
import { highlightCode } from '@lezer/highlight';

import { isPython, mayHoldCuda } from './texts';

// Milliseconds without a key after which a cell is checked.
const DELAY = 150;

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
    actions: replacement ? [{ name: fix(replacement), apply: view => view.dispatch({ changes: change(replacement) }) }] : []
  };
}

function fix({ from, to, text }) {
  return from === to ? `Insert ${text}` : `Write ${text}`;
}

function change({ from, to, text }) {
  return { from, to, insert: text };
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

// The extension of one editor, whose cell is `model`.
export function checking(kernels, model) {
  const holdsCuda = text => isPython(model.mimeType) && mayHoldCuda(text);
  const check = async view => {
    const cell = view.state.doc.toString();
    if (!holdsCuda(cell)) {
      return [];
    }
    const answer = await kernels.ask(model, { request: 'problems', cell });
    return (answer?.problems ?? []).map(problem => diagnostic(problem, cell.length));
  };
  const explain = async (view, pos) => {
    const cell = view.state.doc.toString();
    const word = view.state.wordAt(pos);
    if (word === null || !holdsCuda(cell)) {
      return null;
    }
    const answer = await kernels.ask(model, { request: 'hover', cell, offset: pos });
    if (!answer?.hover) {
      return null;
    }
    return { pos: word.from, end: word.to, above: true, create: () => ({ dom: explained(view.state, answer.hover) }) };
  };
  return [linter(check, { delay: DELAY }), hoverTooltip(explain, { hoverTime: 400 }), theme];
}
