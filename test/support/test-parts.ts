/** Files of a stage that run together. */
export interface Part {
  files: string[]
  /** How many of them run side by side. */
  jobs: number
}

/** How a stage's files run: `jobs` at a time, but those below one of the paths `alone` by themselves, after the others. */
export interface Sharing {
  jobs: number
  alone?: readonly string[]
}

/** @throws when a path of `alone` leads to no file: it has moved, and its tests would run beside others */
export function planParts(files: readonly string[], { jobs, alone = [] }: Sharing): Part[] {
  const isBelow = (file: string, path: string) => file === path || file.startsWith(`${path}/`)
  const unknown = alone.filter((path) => !files.some((file) => isBelow(file, path)))
  if (unknown.length > 0) throw new Error(`no test file at ${unknown.join(', ')}`)
  const isAlone = (file: string) => alone.some((path) => isBelow(file, path))
  const parts = [
    { files: files.filter((file) => !isAlone(file)), jobs },
    { files: files.filter(isAlone), jobs: 1 },
  ]
  return parts.filter((part) => part.files.length > 0)
}
