"""Executes a notebook headless, cell by cell, and keeps the result.

Exits with 1 when a cell raises (unless the cell is tagged `raises-exception`, and then it must raise), or when any output
holds `panicked at`: a panic in a Rust cell is text on stderr that no front end reports as an error.
"""

import argparse
import pathlib
import sys
import time

import nbclient
import nbformat


def text_of(output):
    """All text of an output, whatever its mime type."""
    parts = [output.get("text", ""), output.get("evalue", "")]
    parts += [v if isinstance(v, str) else repr(v) for v in output.get("data", {}).values()]
    parts += output.get("traceback", [])
    return "\n".join(parts)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("notebook", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--kernel")
    parser.add_argument("--timeout", type=int, default=1800)
    args = parser.parse_args()

    notebook = nbformat.read(args.notebook, as_version=4)
    kernel = args.kernel or notebook.metadata.get("kernelspec", {}).get("name", "python3")
    client = nbclient.NotebookClient(
        notebook,
        kernel_name=kernel,
        timeout=args.timeout,
        startup_timeout=300,
        resources={"metadata": {"path": str(args.notebook.parent)}},
    )
    failures = []
    with client.setup_kernel():
        for index, cell in enumerate(notebook.cells):
            if cell.cell_type != "code":
                continue
            start = time.perf_counter()
            head = cell.source.strip().splitlines()[:1]
            try:
                client.execute_cell(cell, index)
                state = "ok"
            except nbclient.exceptions.CellExecutionError as error:
                state = "FAILED"
                failures.append(f"cell {index}: {error}")
            must_raise = "raises-exception" in cell.metadata.get("tags", [])
            if must_raise and state == "ok" and not any(o.output_type == "error" for o in cell.outputs):
                state = "FAILED"
                failures.append(f"cell {index} is tagged raises-exception and raised nothing")
            for output in cell.outputs:
                if "panicked at" in text_of(output):
                    state = "PANICKED"
                    failures.append(f"cell {index} panicked:\n{text_of(output)}")
            print(f"    [{index:2}] {state} {time.perf_counter() - start:6.2f} s  {head[0] if head else ''}", flush=True)
            if state != "ok":
                break
    args.out.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, args.out / f"{kernel}-{args.notebook.name}")
    for failure in failures:
        print(failure, file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
