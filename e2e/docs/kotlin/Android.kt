// Android's part of a context that the app uses. Preferences are a file of the folder, as they are on a phone.
package android.content

import java.io.File
import java.util.Properties

open class Context(val folder: File) {
    /** The address that the browser shows; null until it has shown one. */
    var shown: String? = null

    fun getSharedPreferences(name: String, mode: Int): SharedPreferences = Preferences(File(folder, "$name.properties"))

    companion object {
        const val MODE_PRIVATE = 0
    }
}

interface SharedPreferences {
    fun getString(key: String, defValue: String?): String?
    fun edit(): Editor

    interface Editor {
        fun putString(key: String, value: String?): Editor
        fun commit(): Boolean
    }
}

private class Preferences(private val file: File) : SharedPreferences {
    private fun load() = Properties().apply { if (file.exists()) file.reader().use { load(it) } }

    override fun getString(key: String, defValue: String?): String? = load().getProperty(key, defValue)

    override fun edit() = object : SharedPreferences.Editor {
        private val changed = load()

        override fun putString(key: String, value: String?) = apply {
            if (value == null) changed.remove(key) else changed.setProperty(key, value)
        }

        override fun commit(): Boolean {
            val written = File(file.path + ".new")
            written.writer().use { changed.store(it, null) }
            return written.renameTo(file)
        }
    }
}
