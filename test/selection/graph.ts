/**
 * Which file needs which, read from the texts of the files. A file needs what it imports, and each file or folder of the repository that its code
 * names: programs that it starts, fixtures that it reads, documents that it checks. Imports of types load nothing, so they do not count:
 * `npm run types` checks them.
 */
import path, { posix } from 'node:path'
import { type SourceFile, withoutImports } from '../support/sources/source-files.ts'

/** The files that need a file, by its path. */
export type Graph = ReadonlyMap<string, ReadonlySet<string>>

/** Runs of characters that can be a path or a glob. */
const TOKEN = /[\w@.*{},/-]+/g
const PLACEHOLDER = /\$\{[^{}]*\}/g
/** A path below the folder of the file, or below the repository. */
const BELOW_FILE = /\bimport\.meta\.dirname, '([^']+)'/g
const BELOW_ROOT = /\b(?:repository|root), '([^']+)'/g

/** Builds the graph from the sources and the paths of all files of the repository. */
export function buildGraph(sources: readonly SourceFile[], files: readonly string[]): Graph {
  const paths = new Paths(files)
  const dependents = new Map<string, Set<string>>()
  for (const source of sources) {
    const { file, imports } = source
    const imported = imports.flatMap((entry) => (entry.isType || entry.file === undefined ? [] : [entry.file]))
    for (const needed of new Set([...imported, ...paths.namedIn(file, withoutImports(source))])) {
      if (needed === file) continue
      const known = dependents.get(needed) ?? new Set()
      dependents.set(needed, known.add(file))
    }
  }
  return dependents
}

/** The files of the repository, to resolve what code names. */
class Paths {
  readonly #files: readonly string[]
  readonly #isFile: ReadonlySet<string>
  readonly #folders = new Map<string, string[]>()
  readonly #globs = new Map<string, readonly string[]>()

  constructor(files: readonly string[]) {
    this.#files = files
    this.#isFile = new Set(files)
    for (const file of files) {
      for (let folder = posix.dirname(file); folder !== '.'; folder = posix.dirname(folder)) {
        const known = this.#folders.get(folder)
        if (known) known.push(file)
        else this.#folders.set(folder, [file])
      }
    }
  }

  namedIn(file: string, code: string): string[] {
    const folder = posix.dirname(file)
    const matchesOf = (pattern: RegExp) => [...code.matchAll(pattern)].map(([, name = '']) => name)
    // A placeholder stands for a name; `${repository}/` stands for nothing.
    const plain = code
      .replaceAll(/\$\{(?:repository|root)\}\//g, '')
      .replaceAll(PLACEHOLDER, '*')
      .replaceAll(PLACEHOLDER, '*')
    const tokens = new Set((plain.match(TOKEN) ?? []).map((token) => token.replace(/[.,]+$/, '')))
    return [
      ...[...tokens].flatMap((token) => this.#resolve(token, file)),
      ...matchesOf(BELOW_FILE).flatMap((name) => this.#at(posix.join(folder, name), file)),
      ...matchesOf(BELOW_ROOT).flatMap((name) => this.#at(posix.normalize(name), file)),
    ]
  }

  #resolve(token: string, file: string): readonly string[] {
    const isRelative = token.startsWith('./') || token.startsWith('../')
    const target = isRelative ? posix.join(posix.dirname(file), token) : posix.normalize(token)
    if (/[*{]/.test(token)) return token.includes('/') ? this.#glob(target) : []
    // The name of a folder is a word, and a program has many words: only a path counts.
    if (token.includes('/')) return target.includes('/') || this.#isFile.has(target) ? this.#at(target, file) : []
    return [posix.join(posix.dirname(file), token), token].filter((name) => token.includes('.') && this.#isFile.has(name))
  }

  /** A file, or all files of a folder, unless the naming file is in it. */
  #at(target: string, file: string): readonly string[] {
    if (this.#isFile.has(target)) return [target]
    const folder = target.replace(/\/$/, '')
    return file.startsWith(`${folder}/`) ? [] : (this.#folders.get(folder) ?? [])
  }

  #glob(pattern: string): readonly string[] {
    const [first = ''] = pattern.split('/')
    if (first.includes('*')) return []
    const known = this.#globs.get(pattern)
    if (known) return known
    const prefix = pattern.slice(0, pattern.search(/[*{]/))
    const found = this.#files.filter((file) => file.startsWith(prefix) && path.posix.matchesGlob(file, pattern))
    this.#globs.set(pattern, found)
    return found
  }
}
