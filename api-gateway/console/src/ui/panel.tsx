import type { ComponentChildren } from 'preact'
import { toSafeLink } from '../format/pictures.ts'

interface PanelProps {
  title: string
  /** Shown beside the title. */
  beside?: ComponentChildren
  children: ComponentChildren
}

/** Leads back from a page to its list. */
export const Crumb = ({ path, title }: { path: string; title: string }) => (
  <p class="crumb">
    <a href={`#/${path}`}>{title}</a>
  </p>
)

/** A part of a page with a title. */
export function Panel({ title, beside, children }: PanelProps) {
  return (
    <section class="panel" aria-label={title}>
      <div class="panel-head">
        <h2>{title}</h2>
        {beside}
      </div>
      {children}
    </section>
  )
}

interface DataTableProps {
  title: string
  head: readonly string[]
  rows: readonly (readonly ComponentChildren[])[]
  /** Text for no rows. */
  empty: string
}

/** A table that scrolls if it is wider than its part of the page. On phones, each row is a block, and `data-label` of a cell names it. */
export const ScrollTable = ({ head, children }: { head: readonly ComponentChildren[]; children: ComponentChildren }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: the table scrolls, so the keyboard must be able to reach it
  <div class="scroll" tabIndex={0}>
    <table>
      <thead>
        <tr>
          {head.map((name, column) => (
            <th key={column} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  </div>
)

/** A panel with a table of plain cells. */
export const DataTable = ({ title, head, rows, empty }: DataTableProps) => (
  <Panel title={title}>
    {rows.length === 0 ? (
      <p class="soft">{empty}</p>
    ) : (
      <ScrollTable head={head}>
        {rows.map((cells, row) => (
          <tr key={row}>
            {cells.map((cell, column) => (
              <td key={head[column]} data-label={head[column]}>
                {cell}
              </td>
            ))}
          </tr>
        ))}
      </ScrollTable>
    )}
  </Panel>
)

/** A row of a `dl` with the class `facts`. Without a value, there is none. */
export function Fact({ name, kind, children }: { name: string; kind?: 'mono' | 'swatches'; children: ComponentChildren }) {
  if (children === null || children === undefined || children === false) return null
  return (
    <>
      <dt>{name}</dt>
      <dd class={kind}>{children}</dd>
    </>
  )
}

/** The options of a capture. */
export const OptionFacts = ({ options }: { options: Readonly<Record<string, unknown>> }) => (
  <dl class="facts mono">
    {Object.entries(options).map(([name, value]) => (
      <Fact key={name} name={name}>
        {typeof value === 'string' ? value : JSON.stringify(value)}
      </Fact>
    ))}
  </dl>
)

/** The URL of a stranger as a link, or as text if it is no http or https URL. */
export function ExternalLink({ url }: { url: string }) {
  const link = toSafeLink(url)
  if (link === undefined) return <>{url}</>
  return (
    <a href={link} target="_blank" rel="noreferrer">
      {url}
    </a>
  )
}
