import type { ComponentChildren } from 'preact'

interface DataTableProps {
  title: string
  head: readonly string[]
  rows: readonly (readonly ComponentChildren[])[]
  /** Text for no rows. */
  empty: string
}

/** A panel with a table that scrolls on small windows. */
export function DataTable({ title, head, rows, empty }: DataTableProps) {
  return (
    <section class="panel" aria-label={title}>
      <div class="panel-head">
        <h2>{title}</h2>
      </div>
      {rows.length === 0 ? (
        <p class="soft">{empty}</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the table scrolls, so the keyboard must be able to reach it
        <div class="scroll" tabIndex={0}>
          <table>
            <thead>
              <tr>
                {head.map((name) => (
                  <th key={name} scope="col">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map((cells, row) => (
                <tr key={row}>
                  {cells.map((cell, column) => (
                    <td key={head[column]}>{cell}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  )
}
