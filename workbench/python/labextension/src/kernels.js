// Questions to the kernels of notebooks, by a comm each.

const TARGET = 'workbench.language_service';

// Milliseconds after which a question counts as unanswered while the kernel is idle.
const PATIENCE = 2000;

// Milliseconds after which a kernel that did not know the comm is asked again. One that has run a cell is asked at once: it may have loaded
// Workbench.
const AGAIN = 10000;

// The comm with one kernel. Questions are asked one after the other; of those that wait the newest of a cell counts.
class Channel {
  constructor(kernel) {
    this.kernel = kernel;
    this.comm = null;
    this.refused = -Infinity;
    this.asked = null;
    this.waiting = new Map();
    this.next = 1;
  }

  open() {
    const comm = this.kernel.createComm(TARGET);
    comm.onMsg = message => this.answer(message.content.data);
    comm.onClose = () => {
      if (this.comm === comm) {
        this.comm = null;
        this.refused = performance.now();
        this.drop();
      }
    };
    comm.open();
    this.comm = comm;
  }

  // The answer to a question about a cell; null where the kernel has none. `kind` tells questions about a cell apart.
  ask(cell, kind, question) {
    return new Promise(resolve => {
      const key = `${kind} ${this.number(cell)}`;
      this.waiting.get(key)?.resolve(null);
      this.waiting.set(key, { question, resolve });
      this.proceed();
    });
  }

  // Asks the next question, unless one is being answered.
  proceed() {
    const now = performance.now();
    if (this.asked !== null) {
      // A kernel that runs a cell answers later.
      if (this.kernel.status !== 'idle' || now - this.asked.since < PATIENCE) {
        return;
      }
      this.asked.resolve(null);
      this.asked = null;
    }
    const first = this.waiting.entries().next();
    if (first.done) {
      return;
    }
    if (this.comm === null || this.comm.isDisposed) {
      if (now - this.refused < AGAIN) {
        this.drop();
        return;
      }
      this.open();
    }
    const [key, { question, resolve }] = first.value;
    this.waiting.delete(key);
    this.asked = { id: this.next++, resolve, since: now };
    this.comm.send({ ...question, id: this.asked.id });
    setTimeout(() => this.proceed(), PATIENCE + 50);
  }

  answer(answer) {
    if (this.asked?.id === answer.id) {
      this.asked.resolve(answer.error === undefined ? answer : null);
      this.asked = null;
    }
    this.proceed();
  }

  // Answers everything that waits with null.
  drop() {
    this.asked?.resolve(null);
    this.asked = null;
    this.waiting.forEach(({ resolve }) => resolve(null));
    this.waiting.clear();
  }

  number(cell) {
    this.numbers ??= new WeakMap();
    if (!this.numbers.has(cell)) {
      this.numbers.set(cell, this.next++);
    }
    return this.numbers.get(cell);
  }
}

export class Kernels {
  constructor(tracker) {
    this.tracker = tracker;
    this.channels = new WeakMap();
  }

  // The kernel of a cell's notebook.
  kernel(model) {
    const panel = this.tracker?.find(({ content }) => {
      const cells = content.model?.cells;
      return cells !== undefined && Array.from(cells).includes(model);
    });
    const kernel = panel?.sessionContext.session?.kernel;
    return !kernel || kernel.isDisposed ? null : kernel;
  }

  // The answer of the kernel of a cell's notebook; null where there is none.
  async ask(model, kind, question) {
    const kernel = this.kernel(model);
    if (kernel === null || kernel.connectionStatus !== 'connected' || !kernel.handleComms) {
      return null;
    }
    let channel = this.channels.get(kernel);
    if (channel === undefined) {
      channel = new Channel(kernel);
      this.channels.set(kernel, channel);
      kernel.iopubMessage.connect((_, { header }) => {
        if (header.msg_type === 'execute_input') {
          channel.refused = -Infinity;
        }
      });
      kernel.statusChanged.connect((_, status) => {
        if (status === 'restarting' || status === 'autorestarting' || status === 'dead') {
          channel.comm = null;
          channel.refused = -Infinity;
          channel.drop();
        } else if (status === 'idle') {
          channel.proceed();
        }
      });
    }
    try {
      return await channel.ask(model, kind, question);
    } catch {
      return null;
    }
  }
}
