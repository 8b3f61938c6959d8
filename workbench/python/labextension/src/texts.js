// CUDA C++ in cells: the same rules as `workbench/cells.py`, by the tree of Python's grammar.

// A magic's line goes on after a backslash at its end.
const MAGIC = /^\s*%%(kernel|cuda)\b([^\n]*\\[ \t]*\n)*[^\n]*(\n|$)/;
const CUDA =
  /__global__|__device__|__shared__|\bTORCH_LIBRARY|\bPYBIND11_MODULE|\btorch::Tensor|^[ \t]*#[ \t]*include[ \t]*[<"][\w/.]+[>"]/m;
const ARGUMENT =
  /\b((wb|workbench)\.(compile|op|load_inline)|load_inline)\s*\(\s*$|\b(cuda_sources?|cpp_sources?)\s*=\s*\[?\s*$/;

// The place where the body of a `%%kernel` cell begins; -1 in other cells.
export function bodyOfMagic(text) {
  const magic = MAGIC.exec(text);
  return magic === null ? -1 : magic[0].length;
}

// The inside of a string literal that holds CUDA C++, or null. `literal` is its text with prefix and quotes, `before` what stands in front.
export function insideOfString(literal, before) {
  const open = /^([A-Za-z]{0,2})("""|'''|"|')/.exec(literal);
  if (open === null || /[fb]/i.test(open[1])) {
    return null;
  }
  const quotes = open[2];
  const from = open[0].length;
  const closed = literal.length >= from + quotes.length && literal.endsWith(quotes);
  const to = closed ? literal.length - quotes.length : literal.length;
  const inside = literal.slice(from, to);
  const isArgument = quotes.length === 3 && ARGUMENT.test(before);
  return CUDA.test(inside) || isArgument ? { from, to } : null;
}

// The cell may hold CUDA C++.
export function mayHoldCuda(text) {
  return bodyOfMagic(text) >= 0 || CUDA.test(text) || /\b((wb|workbench)\.(compile|op)|load_inline)\s*\(/.test(text);
}

// The cell is run by a Python kernel.
export function isPython(mimeType) {
  return mimeType === 'text/x-ipython' || mimeType === 'text/x-python';
}
