import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'

const isStale = (file: string, text: string): boolean => {
  try {
    return readFileSync(file, 'utf8') !== text
  } catch {
    return true
  }
}

/**
 * Writes the generated files that differ. With `--check` on the command line it writes nothing, and ends the program with 1 if a file differs.
 * @param files texts by path
 */
export function writeGenerated(files: Readonly<Record<string, string>>): void {
  const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } })
  const stale = Object.entries(files).filter(([file, text]) => isStale(file, text))
  if (stale.length === 0) return
  if (values.check) {
    const names = stale.map(([file]) => path.relative(process.cwd(), file))
    console.error(`generated files are out of date: ${names.join(', ')}\nRun \`npm run generate\` and commit the result.`)
    process.exit(1)
  }
  for (const [file, text] of stale) {
    mkdirSync(path.dirname(file), { recursive: true })
    writeFileSync(file, text)
  }
}
