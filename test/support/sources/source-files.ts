// Reads the source files as text, for tests of the architecture.

import { globSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'

export interface Import {
  /** As written: `./retry.ts`, `node:fs`, `@tintype/crds/ids`. */
  specifier: string
  /** Path in the repository, or undefined for packages. */
  file?: string
  /** Package or builtin: `undici`, `node:fs`. */
  library?: string
  /** True if nothing is loaded at run time. */
  isType: boolean
  /** True for a dynamic `import()`. */
  isDynamic: boolean
}

export interface SourceFile {
  /** Path in the repository. */
  file: string
  /** Text without comments. */
  code: string
  imports: Import[]
}

const root = join(import.meta.dirname, '../../..')
const SOURCES = [
  'crds/{src,client,storage,generate}/**/*.ts',
  '{operator,api-gateway,capture-runner}/src/**/*.ts',
  'capture-runner/page/src/**/*.ts',
  'api-gateway/{client,cli}/src/**/*.ts',
  'api-gateway/console/src/**/*.{ts,tsx}',
]

/** A comment, or a string. The glob `src/**` with a further `/*` looks like a comment. */
const BLOCK_COMMENT = /(?<string>'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`[^`\n]*`)|\/\*[\s\S]*?\*\//g
const STATEMENT = /^[ \t]*(?:import|export)\s+(?<type>type\s+)?(?:(?<names>[\w*{}\s,$]+?)\s+from\s+)?'(?<specifier>[^']+)'/gm
const DYNAMIC = /(?<!typeof )\bimport\(\s*'(?<specifier>[^']+)'/g

const TYPE_IMPORT = /\btypeof import\(\s*'[^']+'/g

/** Every source file of the programs and of crds. */
export const readSources = (): SourceFile[] =>
  globSync(SOURCES, { cwd: root }).map((file) => toSource(file.replaceAll('\\', '/'), readFileSync(join(root, file), 'utf8')))

/** Parses the text of one file. */
export function toSource(file: string, text: string): SourceFile {
  const code = text.replaceAll(BLOCK_COMMENT, '$<string>').replaceAll(/(^|[^:'"`])\/\/.*$/gm, '$1')
  const statements = [...code.matchAll(STATEMENT)].map(({ groups = {} }) => {
    const isType = groups.type !== undefined || isTypesOnly(groups.names)
    return { ...toTarget(file, groups.specifier ?? ''), isType, isDynamic: false }
  })
  const dynamic = [...code.matchAll(DYNAMIC)].map(({ groups = {} }) => ({
    ...toTarget(file, groups.specifier ?? ''),
    isType: false,
    isDynamic: true,
  }))
  return { file, code, imports: [...statements, ...dynamic] }
}

/** The code of a file without its imports. */
export const withoutImports = ({ code }: SourceFile): string =>
  code.replaceAll(STATEMENT, '').replaceAll(DYNAMIC, '').replaceAll(TYPE_IMPORT, '')

/** True for `{ type A, type B }`, which loads nothing at run time. */
function isTypesOnly(names: string | undefined): boolean {
  const inner = names?.match(/^\{([\s\S]*)\}$/)?.[1]
  if (inner === undefined) return false
  const parts = inner.split(',').map((part) => part.trim())
  return parts.filter((part) => part !== '').every((part) => part.startsWith('type '))
}

function toTarget(from: string, specifier: string): Pick<Import, 'specifier' | 'file' | 'library'> {
  if (specifier.startsWith('.')) return { specifier, file: posix.join(posix.dirname(from), specifier) }
  const ours = /^@tintype\/crds\/(?<folder>client\/|storage\/)?(?<path>.+)$/.exec(specifier)?.groups
  if (ours) return { specifier, file: `crds/${ours.folder ?? 'src/'}${ours.path}.ts` }
  if (specifier.startsWith('node:')) return { specifier, library: specifier }
  return {
    specifier,
    library: specifier
      .split('/')
      .slice(0, specifier.startsWith('@') ? 2 : 1)
      .join('/'),
  }
}
