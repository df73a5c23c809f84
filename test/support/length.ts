/** `npm run soak -- nightly` runs long tests at full length. `npm test` runs a short form of them. */
export const FULL_LENGTH = { TINTYPE_TEST_LENGTH: 'full' } as const

/** True in `npm run soak -- nightly`. */
export const isFullLength = process.env.TINTYPE_TEST_LENGTH === FULL_LENGTH.TINTYPE_TEST_LENGTH

/** `items` at full length. In `npm test`, those that `isChosen` names by item or index. */
export const choose = <T>(items: readonly T[], isChosen: (item: T, index: number) => boolean): readonly T[] =>
  isFullLength ? items : items.filter(isChosen)
