// The language of cells: Python, in which the body of a `%%kernel` cell and strings of CUDA C++ are C++.

import { cppLanguage } from '@codemirror/lang-cpp';
import { pythonLanguage } from '@codemirror/lang-python';
import { highlightingFor, syntaxTree } from '@codemirror/language';
import { Compartment, Prec, RangeSetBuilder } from '@codemirror/state';
import { Decoration, ViewPlugin } from '@codemirror/view';
import { parseMixed } from '@lezer/common';
import { tags } from '@lezer/highlight';

import { bodyOfMagic, insideOfString, isPython, mayHoldCuda } from './texts';

// The words that CUDA gives a meaning, which C++'s grammar takes for names like any others, and the types that need no declaration, which
// JupyterLab's themes leave without a colour.
const SPECIFIERS =
  '__global__|__device__|__host__|__shared__|__constant__|__managed__|__restrict__|__forceinline__|__noinline__|' +
  '__launch_bounds__|__grid_constant__|__cluster_dims__|__align__';
const VARIABLES = 'threadIdx|blockIdx|blockDim|gridDim|warpSize';
const TYPES =
  'void|bool|char|short|int|long|float|double|signed|unsigned|size_t|u?int(?:8|16|32|64)_t|dim3|__half2?|__nv_bfloat162?|' +
  '(?:u?(?:char|short|int|long|longlong)|float|double)[1-4]';
const WORDS = new RegExp(`\\b(?:(?<specifier>${SPECIFIERS})|(?<variable>${VARIABLES})|(?<type>${TYPES}))\\b`, 'g');

// The number of characters in front of a string that tell whether it is an argument of ours.
const LOOK_BACK = 200;

function nested(node, input) {
  if (node.type.isTop) {
    const body = bodyOfMagic(input.read(0, Math.min(input.length, 2000)));
    if (body < 0 || body >= input.length) {
      return null;
    }
    return { parser: cppLanguage.parser, overlay: [{ from: body, to: input.length }] };
  }
  if (node.name !== 'String') {
    return null;
  }
  const before = input.read(Math.max(0, node.from - LOOK_BACK), node.from);
  const inside = insideOfString(input.read(node.from, node.to), before);
  if (inside === null || inside.from === inside.to) {
    return null;
  }
  const range = { from: node.from + inside.from, to: node.from + inside.to };
  return { parser: cppLanguage.parser, overlay: [range] };
}

const cellLanguage = pythonLanguage.configure({ wrap: parseMixed(nested) }, 'python-with-cuda');

// Marks of CUDA's words in the visible part, in the theme's colours.
const words = ViewPlugin.fromClass(
  class {
    constructor(view) {
      this.tree = syntaxTree(view.state);
      this.decorations = marks(view);
    }

    update(update) {
      const tree = syntaxTree(update.state);
      if (update.docChanged || update.viewportChanged || tree !== this.tree) {
        this.tree = tree;
        this.decorations = marks(update.view);
      }
    }
  },
  { decorations: plugin => plugin.decorations }
);

function marks(view) {
  const { state } = view;
  const builtIn = highlightingFor(state, [tags.standard(tags.variableName)]);
  const classes = {
    specifier: highlightingFor(state, [tags.keyword]),
    variable: builtIn,
    // The theme may have no colour for types.
    type: highlightingFor(state, [tags.typeName]) ?? builtIn
  };
  const builder = new RangeSetBuilder();
  for (const { from, to } of view.visibleRanges) {
    for (const found of state.sliceDoc(from, to).matchAll(WORDS)) {
      const at = from + found.index;
      const kind = Object.keys(classes).find(name => found.groups[name] !== undefined);
      if (cppLanguage.isActiveAt(state, at, 1) && isCode(state, at)) {
        const style = `cm-cuda-${kind} ${classes[kind] ?? ''}`;
        builder.add(at, at + found[0].length, Decoration.mark({ class: style }));
      }
    }
  }
  return builder.finish();
}

function isCode(state, at) {
  return !/Comment|String/.test(syntaxTree(state).resolveInner(at, 1).name);
}

// The extension of one editor. The cell's language is ours while it holds CUDA C++, and JupyterLab's otherwise.
export function highlighting(model) {
  const compartment = new Compartment();
  const language = [Prec.highest(cellLanguage.extension), words];
  const switcher = ViewPlugin.fromClass(
    class {
      constructor(view) {
        this.view = view;
        this.isOurs = false;
        this.changed = () => this.check();
        model.mimeTypeChanged.connect(this.changed);
        this.check();
      }

      update(update) {
        if (update.docChanged) {
          this.check();
        }
      }

      check() {
        const isOurs = isPython(model.mimeType) && mayHoldCuda(this.view.state.doc.toString());
        if (isOurs === this.isOurs) {
          return;
        }
        this.isOurs = isOurs;
        // A view takes no changes while it is being updated.
        queueMicrotask(() => {
          this.view.dispatch({ effects: compartment.reconfigure(this.isOurs ? language : []) });
        });
      }

      destroy() {
        model.mimeTypeChanged.disconnect(this.changed);
      }
    }
  );
  return [compartment.of([]), switcher];
}
