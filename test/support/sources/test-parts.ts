/** Test files of a stage that run together. */
export interface Part {
  files: readonly string[]
  /** Number of concurrent files. */
  jobs: number
  /** Their number as soon as a file ends after this. */
  moreJobs?: { jobs: number; after: Promise<unknown> }
  /** The part starts when the tools are built. */
  needsTools?: true
  /** Files that leave the state of their process alone share a process. */
  hasGroups?: true
  /** tap measures what its files cover. */
  hasCoverage?: true
}

type Matches = (file: string) => boolean

/**
 * Divides the files of a stage. Those that measure coverage come first, because only they need the modules of tap. Those that need a tool come last,
 * because a file that waited for a build would use up its time limit.
 */
export function planParts(stage: Part, covers: Matches, usesTool: Matches): Part[] {
  const parts: Part[] = [
    { ...stage, files: stage.files.filter(covers), hasCoverage: true },
    { ...stage, files: stage.files.filter((file) => !covers(file) && !usesTool(file)) },
    { ...stage, files: stage.files.filter((file) => !covers(file) && usesTool(file)), needsTools: true },
  ]
  return parts.filter(({ files }) => files.length > 0)
}
