// @ts-check

/**
 * A place of a walk that starts again after its end.
 *
 * @param {number} at
 * @param {number} length - how many places there are
 */
export function stepAt(at, length) {
  return ((at % length) + length) % length;
}

/** Calls for the next step at an even pace, until it is stopped or there is none. */
export class Clock {
  /**
   * @param {() => boolean} step - takes one; whether another may follow
   * @param {() => void} changed - it has started or stopped
   */
  constructor(step, changed) {
    this.step = step;
    this.changed = changed;
    /** @type {ReturnType<typeof setTimeout> | null} */
    this.timer = null;
  }

  get running() {
    return this.timer !== null;
  }

  /** The first step is taken at once: who presses Play sees something happen. @param {number} pace - ms */
  start(pace) {
    this.stop();
    const beat = () => {
      this.timer = this.step() ? setTimeout(beat, pace) : null;
      if (!this.running) this.changed();
    };
    beat();
    this.changed();
  }

  stop() {
    if (this.timer === null) return;
    clearTimeout(this.timer);
    this.timer = null;
    this.changed();
  }
}
