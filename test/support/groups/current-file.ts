/** Stands for tap in the test files of a group: its `t` is the test of the file that runs. */
import t, { type Test } from 'tap'

let current: Test = t

/** From now on, `t` is the test of another file. */
export const startFile = (test: Test): void => {
  current = test
}

export default new Proxy(t, {
  get: (_, key) => {
    const value = Reflect.get(current, key)
    return typeof value === 'function' ? value.bind(current) : value
  },
  set: (_, key, value) => Reflect.set(current, key, value),
})
