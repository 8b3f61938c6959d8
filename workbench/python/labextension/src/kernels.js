// Questions to the kernels of notebooks, by a comm each.

const TARGET = 'workbench.language_service';

// Milliseconds after which a question counts as unanswered: the kernel runs a cell.
const PATIENCE = 1000;

// The comm with one kernel. The kernel closes it at once if it has not loaded Workbench; the next question opens another.
class Channel {
  constructor(kernel) {
    this.kernel = kernel;
    this.comm = null;
    this.waiting = new Map();
    this.next = 1;
  }

  open() {
    const comm = this.kernel.createComm(TARGET);
    comm.onMsg = message => {
      const answer = message.content.data;
      this.waiting.get(answer.id)?.(answer);
      this.waiting.delete(answer.id);
    };
    comm.onClose = () => {
      if (this.comm === comm) {
        this.comm = null;
        this.waiting.forEach(resolve => resolve(null));
        this.waiting.clear();
      }
    };
    comm.open();
    this.comm = comm;
  }

  // The answer to a question; null where the kernel has none, or is busy.
  ask(question) {
    if (this.waiting.size > 0) {
      return Promise.resolve(null);
    }
    if (this.comm === null || this.comm.isDisposed) {
      this.open();
    }
    const id = this.next++;
    const answered = new Promise(resolve => this.waiting.set(id, resolve));
    this.comm.send({ ...question, id });
    const late = new Promise(resolve => setTimeout(resolve, PATIENCE, null));
    return Promise.race([answered, late]);
  }
}

export class Kernels {
  constructor(tracker) {
    this.tracker = tracker;
    this.channels = new WeakMap();
  }

  // The answer of the kernel of a cell's notebook; null where there is none.
  async ask(model, question) {
    const panel = this.tracker?.find(({ content }) => {
      const cells = content.model?.cells;
      return cells !== undefined && Array.from(cells).includes(model);
    });
    const kernel = panel?.sessionContext.session?.kernel;
    if (!kernel || kernel.isDisposed || kernel.connectionStatus !== 'connected' || !kernel.handleComms) {
      return null;
    }
    let channel = this.channels.get(kernel);
    if (channel === undefined) {
      channel = new Channel(kernel);
      this.channels.set(kernel, channel);
      kernel.statusChanged.connect((_, status) => {
        if (status === 'restarting' || status === 'dead') {
          this.channels.delete(kernel);
        }
      });
    }
    try {
      return await channel.ask(question);
    } catch {
      return null;
    }
  }
}
