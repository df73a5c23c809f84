/** What a test file knows about the servers of its lane. A file that runs by itself has no lane. */

export const LANES_VARIABLE = 'TINTYPE_TEST_LANES'

/** An API server with Tintype's kinds, and the directory of its files. */
export interface LanePlane {
  directory: string
  url: string
  etcdUrl: string
  programs: string
}

/** The API server of this file's lane. Undefined if the file runs by itself. */
export async function findLanePlane(): Promise<LanePlane | undefined> {
  const server = process.env[LANES_VARIABLE]
  if (server === undefined) return undefined
  const response = await fetch(`${server}/${process.env.TAP_JOB_ID ?? 0}`)
  if (!response.ok) throw new Error(`the API server of the lane did not start: ${await response.text()}`)
  return (await response.json()) as LanePlane
}
