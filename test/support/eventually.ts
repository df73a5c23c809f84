/** Repeats a look until it returns something other than undefined or false. @throws with `what` when that takes too long */
export async function eventually<T>(what: string, look: () => Promise<T | undefined | false>, milliseconds = 60_000): Promise<T> {
  const end = Date.now() + milliseconds
  let last: unknown
  for (;;) {
    try {
      const seen = await look()
      if (seen !== undefined && seen !== false) return seen
    } catch (error) {
      last = error
    }
    if (Date.now() > end) throw new Error(`${what}: not within ${milliseconds} ms`, { cause: last })
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}
