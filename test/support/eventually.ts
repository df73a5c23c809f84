const FIRST_PAUSE_MILLISECONDS = 25
const LONGEST_PAUSE_MILLISECONDS = 200

/**
 * Repeats a look until it returns something other than undefined or false, often at first. The bound is for a machine that is slow and busy:
 * it tells that something never comes, not how long it takes.
 *
 * @throws with `what` when that takes too long
 */
export async function eventually<T>(what: string, look: () => Promise<T | undefined | false>, milliseconds = 120_000): Promise<T> {
  const end = Date.now() + milliseconds
  let last: unknown
  for (let pause = FIRST_PAUSE_MILLISECONDS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MILLISECONDS)) {
    try {
      const seen = await look()
      if (seen !== undefined && seen !== false) return seen
    } catch (error) {
      last = error
    }
    if (Date.now() > end) throw new Error(`${what}: not within ${milliseconds} ms`, { cause: last })
    await new Promise((resolve) => setTimeout(resolve, pause))
  }
}
