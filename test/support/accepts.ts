import type { Test } from 'tap'

/** Fails unless the check holds for all accepted values and for none of the refused ones. The failure shows which differ. */
export function assertAccepts<T>(t: Test, check: (value: T) => unknown, accepted: readonly T[], refused: readonly T[]): void {
  t.strictSame(
    [...accepted, ...refused].filter((value) => check(value)),
    accepted,
  )
}

/** Fails with the values for which the check does not hold. */
export function assertEvery<T>(t: Test, values: readonly T[], check: (value: T) => unknown, message = 'every value'): void {
  t.strictSame(
    values.filter((value) => !check(value)),
    [],
    message,
  )
}

/** Fails with all values if the check holds for none of them. */
export function assertSome<T>(t: Test, values: readonly T[], check: (value: T) => unknown, message = 'one of the values'): void {
  t.ok(values.some(check), message, { values })
}
