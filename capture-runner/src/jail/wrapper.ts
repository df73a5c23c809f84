import path from 'node:path'

// Programs of capture-runner/jail that start another program which must not read the pod's tokens: ffmpeg, and the browser where the node allows no jail.

/** Starts programs with fewer rights. */
export interface Wrapper {
  /** What to start instead of `program`, and its additional environment. The arguments stay. */
  command: (program: string) => { executablePath: string; env: Record<string, string> }
}

/** What wrapped programs must not read. */
export interface Secrets {
  /** Path of capture-runner/jail. */
  programsDirectory: string
  /** Files that they must not read, the token first. Their whole directories are hidden. */
  secretFiles: readonly string[]
}

/** Where Kubernetes and admission webhooks mount tokens. */
export const SECRETS_DIRECTORY = '/var/run/secrets'

const wrapWith =
  (script: string) =>
  ({ programsDirectory, secretFiles }: Secrets): Wrapper => {
    const hidden = new Set([SECRETS_DIRECTORY, ...secretFiles.map((file) => path.dirname(file))])
    return {
      command: (program) => ({
        executablePath: path.join(programsDirectory, script),
        env: { TINTYPE_JAILED: program, TINTYPE_HIDDEN: [...hidden].join(':') },
      }),
    }
  }

/** Uses Landlock, which also keeps the memory of the runner from the program. Needs no user namespaces, and a kernel with Landlock. */
export const landlockWrapper = wrapWith('landlock.pl')

/** Covers the directories by mounts, and takes the network away. Needs user namespaces and permission to mount in them. */
export const mountWrapper = wrapWith('cover.sh')
