/** The cluster's control groups: a subtree `tintype` in each hierarchy of the machine. */
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { cgroupRoot } from '../host/state.ts'
import { StepError } from '../host/steps.ts'

const root = '/sys/fs/cgroup'

/** True when the machine uses only the unified hierarchy (cgroup v2). */
const isUnified = (): boolean => existsSync(path.join(root, 'cgroup.controllers'))

/** Creates the missing parts of the subtree. @throws StepError when the controllers cannot be delegated. */
export async function ensureCgroups(tree = cgroupRoot): Promise<void> {
  if (isUnified()) return ensureUnified(tree)
  for (const hierarchy of await readdir(root)) {
    if (hierarchy === 'unified' || !existsSync(path.join(root, hierarchy, 'cgroup.procs'))) continue
    await mkdir(path.join(root, hierarchy, tree), { recursive: true })
  }
  // A new cpuset is empty and rejects processes until its CPUs and memory nodes are set.
  for (const file of ['cpuset.cpus', 'cpuset.mems']) {
    const above = path.join(root, 'cpuset', file)
    if (existsSync(above)) await writeFile(path.join(root, 'cpuset', tree, file), await readFile(above))
  }
}

/** Removes the subtree, except groups that still have processes. */
export async function removeCgroups(tree = cgroupRoot): Promise<void> {
  const bases = isUnified() ? [root] : (await readdir(root)).map((hierarchy) => path.join(root, hierarchy))
  for (const base of bases) await removeTree(path.join(base, tree))
}

async function ensureUnified(tree: string): Promise<void> {
  const available = (await readFile(path.join(root, 'cgroup.controllers'), 'utf8')).trim().split(' ')
  const wanted = available.map((controller) => `+${controller}`).join(' ')
  try {
    await writeFile(path.join(root, 'cgroup.subtree_control'), wanted)
    await mkdir(path.join(root, tree), { recursive: true })
  } catch (cause) {
    const remedy = 'inside a container, start it with its own cgroup namespace and no process in the root group; on a machine, run as root'
    throw new StepError(`the cgroup controllers (${available.join(', ')}) cannot be delegated`, { remedy, cause })
  }
}

/** Deepest first, because a group can be removed only without children and processes. */
async function removeTree(directory: string): Promise<void> {
  if (!existsSync(directory)) return
  for (const entry of await readdir(directory, { withFileTypes: true }))
    if (entry.isDirectory()) await removeTree(path.join(directory, entry.name))
  await rmdir(directory).catch(() => {})
}
