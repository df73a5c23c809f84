import { readdirSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../../..')
const NOT_OURS = /(?:^|\/)(?:node_modules|dist|\.git|\.tintype|\.tap)$/

/** The files of the repository without git, in which tests need not run. */
export function readRepositoryFiles(folder = ''): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const file = folder === '' ? entry.name : `${folder}/${entry.name}`
    if (NOT_OURS.test(file)) return []
    return entry.isDirectory() ? readRepositoryFiles(file) : [file]
  })
}
