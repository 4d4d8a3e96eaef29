// Android's key store: a provider of Java's, whose one key is a file. As on a phone, it outlives the app's process, and a
// backup of the app lacks it.
package android.security.keystore

import java.io.File
import java.io.InputStream
import java.io.OutputStream
import java.security.InvalidAlgorithmParameterException
import java.security.Key
import java.security.KeyStoreSpi
import java.security.Provider
import java.security.SecureRandom
import java.security.cert.Certificate
import java.security.spec.AlgorithmParameterSpec
import javax.crypto.KeyGeneratorSpi
import javax.crypto.SecretKey
import javax.crypto.spec.SecretKeySpec

object KeyProperties {
    const val PURPOSE_ENCRYPT = 1
    const val PURPOSE_DECRYPT = 2
    const val BLOCK_MODE_GCM = "GCM"
    const val ENCRYPTION_PADDING_NONE = "NoPadding"
    const val KEY_ALGORITHM_AES = "AES"
}

class KeyGenParameterSpec private constructor(val alias: String, val mode: String) : AlgorithmParameterSpec {
    class Builder(private val keystoreAlias: String, private val purposes: Int) {
        private var modes = emptyList<String>()
        private var paddings = emptyList<String>()

        fun setBlockModes(vararg blockModes: String) = apply { modes = blockModes.toList() }

        fun setEncryptionPaddings(vararg paddings: String) = apply { this.paddings = paddings.toList() }

        fun build() = KeyGenParameterSpec(keystoreAlias, "$purposes $modes $paddings")
    }
}

class AndroidKeyStore(private val folder: File) : Provider("AndroidKeyStore", "1", "keys in files") {
    init {
        serve("KeyStore", "AndroidKeyStore") { Keys(folder) }
        serve("KeyGenerator", KeyProperties.KEY_ALGORITHM_AES) { Generator(folder) }
    }

    private fun serve(type: String, algorithm: String, make: () -> Any) =
        putService(object : Service(this, type, algorithm, make.javaClass.name, null, null) {
            override fun newInstance(constructorParameter: Any?) = make()
        })
}

private fun unused(): Nothing = throw UnsupportedOperationException("the app does not use this")

private fun file(folder: File, alias: String) = File(folder, "$alias.key")

private class Generator(private val folder: File) : KeyGeneratorSpi() {
    private lateinit var alias: String

    override fun engineInit(params: AlgorithmParameterSpec?, random: SecureRandom?) {
        val spec = params as KeyGenParameterSpec
        if (spec.mode != "3 [GCM] [NoPadding]") throw InvalidAlgorithmParameterException(spec.mode)
        alias = spec.alias
    }

    override fun engineInit(random: SecureRandom?): Unit = unused()

    override fun engineInit(keysize: Int, random: SecureRandom?): Unit = unused()

    override fun engineGenerateKey(): SecretKey {
        val key = ByteArray(32).also { SecureRandom().nextBytes(it) }
        file(folder, alias).writeBytes(key)
        return SecretKeySpec(key, "AES")
    }
}

private class Keys(private val folder: File) : KeyStoreSpi() {
    override fun engineLoad(stream: InputStream?, password: CharArray?) = Unit

    override fun engineGetKey(alias: String, password: CharArray?): Key? =
        file(folder, alias).takeIf { it.exists() }?.let { SecretKeySpec(it.readBytes(), "AES") }

    override fun engineContainsAlias(alias: String) = unused()

    override fun engineIsKeyEntry(alias: String) = unused()

    override fun engineIsCertificateEntry(alias: String) = unused()

    override fun engineGetCertificate(alias: String) = unused()

    override fun engineGetCertificateChain(alias: String) = unused()

    override fun engineGetCertificateAlias(cert: Certificate) = unused()

    override fun engineGetCreationDate(alias: String) = unused()

    override fun engineAliases() = unused()

    override fun engineSize() = unused()

    override fun engineSetKeyEntry(alias: String, key: Key, password: CharArray?, chain: Array<Certificate>?): Unit = unused()

    override fun engineSetKeyEntry(alias: String, key: ByteArray, chain: Array<Certificate>?): Unit = unused()

    override fun engineSetCertificateEntry(alias: String, cert: Certificate): Unit = unused()

    override fun engineDeleteEntry(alias: String): Unit = unused()

    override fun engineStore(stream: OutputStream?, password: CharArray?): Unit = unused()
}
