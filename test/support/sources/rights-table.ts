import { readText } from './code-blocks.ts'

/** The table of docs/architecture.md: what each identity of the bucket may do, by folder and identity. */
export function readRightsTable(): Map<string, Map<string, string[]>> {
  const page = readText('docs/architecture.md')
  const [, text = ''] = /^\| Folder \| operator \| gateway \| uploads \| links \|\n((?:\|.*\n)+)/m.exec(page) ?? []
  const rows = [...text.matchAll(/^\| `([a-z]+)\/` \|(.*)\|$/gm)].map(([, folder = '', cells = '']) => {
    const allowed = cells.split('|').map((cell) => cell.split(/[ ,]+/).filter((word) => /^[a-z]+$/.test(word)))
    return [folder, new Map(['operator', 'gateway', 'uploads', 'links'].map((role, index) => [role, allowed[index] ?? []]))] as const
  })
  return new Map(rows)
}
