/** `npm run soak -- nightly` runs long tests at full length. `npm test` runs a short form of them. */
export const FULL_LENGTH = { TINTYPE_TEST_LENGTH: 'full' } as const

/** True in `npm run soak -- nightly`. */
export const isFullLength = process.env.TINTYPE_TEST_LENGTH === FULL_LENGTH.TINTYPE_TEST_LENGTH
