import { type Folder, folders, IDENTITIES, type Identity, mayList, policyOf } from '../src/records/folders.ts'

// Writes the folders of the bucket into documents: what each identity may do, and what deletes objects.

const COLUMNS: readonly Identity[] = ['operator', 'gateway', 'uploads', 'links']
const HEAD = ['Folder', ...COLUMNS, 'The store deletes after', 'Deleted with its account']

const DAYS = { files: 'retention of files', records: 'retention of records', never: '–' } as const
const daysOf = ({ deletion: { storeDays } }: Folder): string => (typeof storeDays === 'number' ? `${storeDays} days` : DAYS[storeDays])

function rightsOf({ rights }: Folder, identity: Identity): string {
  const allowed = [...(rights[identity] ?? []), ...(mayList(identity) ? ['list'] : [])]
  return allowed.length === 0 ? '–' : allowed.join(', ')
}

const toRow = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`

const rows = folders.map((folder) =>
  toRow([
    `\`${folder.name}/\``,
    ...COLUMNS.map((identity) => rightsOf(folder, identity)),
    daysOf(folder),
    folder.deletion.accounts.length > 0 ? 'yes' : 'no',
  ]),
)

const MARK = '<!-- Generated from crds/src/records/folders.ts by `npm run generate`. -->\n'

/** Replaces the table of the folders in docs/architecture.md, which follows a comment. */
export function withFolderTable(page: string): string {
  const table = [toRow(HEAD), `|${'---|'.repeat(HEAD.length)}`, ...rows].map((line) => `${line}\n`).join('')
  const at = page.indexOf(MARK) + MARK.length
  if (at < MARK.length) throw new Error('docs/architecture.md has no place for the table of folders')
  return page.slice(0, at) + table + page.slice(at).replace(/^(?:\|.*\n)*/, '')
}

/** Formats a policy with one statement a line. */
const toPolicyText = (identity: Identity): string => {
  const { Version, Statement } = policyOf(identity, 'tintype')
  return `{"Version":"${Version}","Statement":[\n${Statement.map((statement) => `  ${JSON.stringify(statement)}`).join(',\n')}]}\n`
}

/** Replaces the policies in the chart's README, for stores that the chart does not set up. */
export const withPolicies = (readme: string): string =>
  IDENTITIES.reduce(
    (text, identity) =>
      text.replace(new RegExp(`(Rights of \`${identity}\`[^\`]*?\`{3}json\n)[^\`]*`), (_, head: string) => head + toPolicyText(identity)),
    readme,
  )
