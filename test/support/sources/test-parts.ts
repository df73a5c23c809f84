import path from 'node:path'

/** Files of a stage that run together. */
export interface Part {
  files: string[]
  /** Number of concurrent files. */
  jobs: number
}

/** A stage runs `jobs` files concurrently. Files that match a pattern of `alone` run one by one after the others. */
export interface Sharing {
  jobs: number
  alone?: readonly string[]
}

/** @throws when a pattern of `alone` matches no file, because a moved file would run together with others */
export function planParts(files: readonly string[], { jobs, alone = [] }: Sharing): Part[] {
  const idle = alone.filter((pattern) => !files.some((file) => path.matchesGlob(file, pattern)))
  if (idle.length > 0) throw new Error(`no test file matches ${idle.join(', ')}`)
  const isAlone = (file: string) => alone.some((pattern) => path.matchesGlob(file, pattern))
  const parts = [
    { files: files.filter((file) => !isAlone(file)), jobs },
    { files: files.filter(isAlone), jobs: 1 },
  ]
  return parts.filter((part) => part.files.length > 0)
}
