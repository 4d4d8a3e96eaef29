package android.net

import java.net.URI
import java.net.URLDecoder

class Uri private constructor(private val address: String) {
    fun getQueryParameter(key: String): String? = URI(address).rawQuery.orEmpty().split('&')
        .firstOrNull { it.startsWith("$key=") }?.let { URLDecoder.decode(it.substringAfter('='), Charsets.UTF_8) }

    override fun toString() = address

    companion object {
        fun parse(uriString: String) = Uri(uriString)
    }
}
