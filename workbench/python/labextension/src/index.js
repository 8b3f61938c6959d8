// The extension for JupyterLab: CUDA C++ in cells is highlighted, its problems are drawn while it is written, with quick fixes, and names
// explain themselves under the mouse. The compiler in the notebook's kernel answers (`workbench/notebook_language_service.py`).

import { IEditorExtensionRegistry } from '@jupyterlab/codemirror';
import { INotebookTracker } from '@jupyterlab/notebook';

import { highlighting } from './highlighting';
import { Kernels } from './kernels';
import { checking } from './checking';

// The plugin, as JupyterLab loads it.
const plugin = {
  id: 'workbench-labextension:plugin',
  description: 'CUDA C++ in cells.',
  autoStart: true,
  requires: [IEditorExtensionRegistry],
  optional: [INotebookTracker],
  activate: (app, registry, tracker) => {
    const kernels = new Kernels(tracker);
    registry.addExtension({
      name: 'workbench-highlighting',
      factory: options => ({ instance: () => highlighting(options.model), reconfigure: () => null })
    });
    registry.addExtension({
      name: 'workbench-checking',
      factory: options => ({
        instance: () => checking(kernels, options.model),
        reconfigure: () => null
      })
    });
  }
};

export default plugin;
