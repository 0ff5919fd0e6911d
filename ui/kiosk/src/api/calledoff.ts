/**
 * Why something was called off. Without a reason of its own, a signal makes one that remembers the whole call stack, and
 * with it the screen of the visitor who has just left.
 */
export const calledOff = 'called off'
