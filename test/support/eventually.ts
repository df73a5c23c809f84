const FIRST_PAUSE_MILLISECONDS = 25
const LONGEST_PAUSE_MILLISECONDS = 200

/**
 * Repeats a check until it returns something other than undefined or false, with short pauses at first. The timeout allows for a slow and busy
 * machine. It detects that something never happens and says nothing about speed.
 *
 * @throws with `what` after the timeout
 */
export async function eventually<T>(what: string, check: () => Promise<T | undefined | false>, milliseconds = 120_000): Promise<T> {
  const end = Date.now() + milliseconds
  let last: unknown
  for (let pause = FIRST_PAUSE_MILLISECONDS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MILLISECONDS)) {
    try {
      const seen = await check()
      if (seen !== undefined && seen !== false) return seen
    } catch (error) {
      last = error
    }
    if (Date.now() > end) throw new Error(`${what}: not within ${milliseconds} ms`, { cause: last })
    await new Promise((resolve) => setTimeout(resolve, pause))
  }
}
