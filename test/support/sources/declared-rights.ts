import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

// Programs declare their permissions in Kubernetes in lines `// rbac: <group>/<resource> <verb>,<verb>`.

const repository = path.join(import.meta.dirname, '../../..')

/** A permission that a file declares. */
export interface Right {
  group: string
  resource: string
  verb: string
}

/** The permissions that the files of a program declare, without repetitions. */
export function declaredRights(program: string, isWanted: (file: string) => boolean = () => true): Right[] {
  const directory = path.join(repository, program, 'src')
  const files = readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts') && isWanted(file))
  const lines = files.flatMap((file) => [
    ...readFileSync(path.join(directory, file), 'utf8').matchAll(/^\/\/ rbac: ([^/\s]*)\/(\S+) (\S+)$/gm),
  ])
  const rights = lines.flatMap(([, group = '', resource = '', verbs = '']) => verbs.split(',').map((verb) => ({ group, resource, verb })))
  return [...new Map(rights.map((right) => [toText(right), right])).values()]
}

/** `group/resource verb` */
export const toText = ({ group, resource, verb }: Right): string => `${group}/${resource} ${verb}`
